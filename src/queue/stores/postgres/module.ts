import { type PgModule, readMigrations } from '../../../storage/index.ts'

/** The queue's tables and functions in the schema `hivegate`. */
export const postgresQueueModule: PgModule = {
  name: 'queue',
  migrations: readMigrations(new URL('./migrations/', import.meta.url)),
}
