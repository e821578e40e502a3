export * from './engine/index.ts'
export { type Jobs, startJobs } from './jobs.ts'
export { type QueueRouteParts, queueRouter } from './routes/index.ts'
export * from './stores/sqlite/index.ts'
