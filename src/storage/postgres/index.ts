export { sqlState } from './errors.ts'
export { openPostgresHost } from './host.ts'
export type {
  ChannelListener,
  PgHost,
  PgHostOptions,
  PgModule,
  PgTarget,
  Statements,
  Tx,
} from './types.ts'
