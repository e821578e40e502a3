export {
  StoreBusyError,
  StoreClosedError,
  StoreError,
  type StoreErrorCode,
  StoreFailedError,
  StoreLockedError,
  StoreSchemaError,
} from './errors.ts'
export { type BatchReport, GroupCommit, type GroupCommitOptions } from './group-commit.ts'
export { openInlineHost, openSqliteHost, type SqliteHostOptions } from './host.ts'
export { readMigrations } from './migrate.ts'
export type {
  CommitOutcome,
  Migration,
  ModuleSpec,
  SqliteHost,
  StoreModule,
  StoreSession,
} from './module.ts'
export { siblingUrl } from './sibling.ts'
