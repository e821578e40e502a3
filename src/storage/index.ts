export { Backoff } from './backoff.ts'
export {
  StoreBusyError,
  StoreClosedError,
  StoreError,
  type StoreErrorCode,
  StoreFailedError,
  StoreLockedError,
  StoreSchemaError,
  StoreTextError,
  StoreUnavailableError,
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
export {
  columns,
  type MovedColumn,
  type MovedTable,
  type MoveErrorReason,
  type MoveReport,
  type MoveStep,
  moveStore,
  type StoreMove,
  StoreMoveError,
  type WingMove,
} from './move/index.ts'
export {
  type ChannelListener,
  openPostgresHost,
  type PgHost,
  type PgHostOptions,
  type PgModule,
  type PgTarget,
  type Statements,
  sqlState,
  type Tx,
} from './postgres/index.ts'
export { siblingUrl } from './sibling.ts'
export { type SpillEntry, SpillLog, type SpillLogOptions } from './spill/index.ts'
