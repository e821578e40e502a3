export { postgresQueueModule } from './module.ts'
export { type PostgresQueueOptions, postgresQueueStore } from './store.ts'
