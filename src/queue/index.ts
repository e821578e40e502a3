export * from './engine/index.ts'
export { type QueueRouteParts, queueRouter } from './routes/index.ts'
