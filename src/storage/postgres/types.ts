import type { ConnectionOptions } from 'node:tls'
import type { Migration } from '../module.ts'

/** Where a PostgreSQL server is and who asks; what `DATABASE_URL` says, read and checked. */
export interface PgTarget {
  /** Host name or address; a folder (leading `/`) is that of a unix socket. */
  readonly host: string
  readonly port: number
  readonly database: string
  readonly user: string
  /** Undefined for servers that ask for none. */
  readonly password: string | undefined
  /** TLS of the connection; false speaks clear text. */
  readonly tls: ConnectionOptions | false
}

/** The part of the PostgreSQL store that one wing owns. All its objects live in the schema `hivegate`. */
export interface PgModule {
  /** Short name, unique in one store; also keys the module's migrations. */
  readonly name: string
  readonly migrations: readonly Migration[]
}

/** Something that runs statements. */
export interface Statements {
  /**
   * Runs one statement and gives its rows; the caller's SQL is what makes `T` true. `name` is that of the
   * prepared statement (unique per text, at most 63 bytes; unused behind a transaction-mode pooler). An array
   * goes to a PostgreSQL array; for a `jsonb` parameter pass JSON text.
   * @throws StoreUnavailableError, StoreBusyError, StoreFailedError (`cause` is the server's error)
   */
  rows<T>(name: string, sql: string, values?: readonly unknown[]): Promise<T[]>
}

/** A client inside BEGIN … COMMIT. */
export interface Tx extends Statements {
  /** Runs several statements without values; for migrations. */
  script(sql: string): Promise<void>
}

/** What hears notifications of one channel. */
export interface ChannelListener {
  heard(payload: string): void
  /** LISTEN is in force from now on: after the first connect and after each lost one. Things may have been missed. */
  restored(): void
}

/** One PostgreSQL database, shared by all wings; sibling of `SqliteHost`. */
export interface PgHost extends Statements {
  /** Random name of this opened host; tells one's own notifications from those of others. */
  readonly instance: string
  /**
   * Runs `work` in one READ COMMITTED transaction; a throw rolls back. Deadlocks are tried again, so `work` may
   * run more than once.
   * @throws what `work` throws; StoreUnavailableError when the outcome of COMMIT is unknown too
   */
  transaction<T>(work: (tx: Tx) => Promise<T>): Promise<T>
  /** Runs `work`, which only reads, in one snapshot. */
  snapshot<T>(work: (tx: Tx) => Promise<T>): Promise<T>
  /** Sends a notification (payload below 8,000 bytes) in a statement of its own. */
  notify(channel: string, payload: string): Promise<void>
  /** Hears a channel on the connection kept for that; answers how to stop. Never throws: see `restored`. */
  listen(channel: string, listener: ChannelListener): () => void
  /** Resolves when the database answers. @throws StoreUnavailableError, StoreBusyError */
  ping(): Promise<void>
  /** Finishes what runs and closes every connection. */
  close(): Promise<void>
}

/** How the PostgreSQL store is opened. */
export interface PgHostOptions {
  readonly target: PgTarget
  /** Where to LISTEN; the target itself when absent, nowhere when null (re-checks alone then). */
  readonly listenTarget?: PgTarget | null
  readonly modules: readonly PgModule[]
  /** A transaction-mode pooler is in between: unnamed statements, no session settings. */
  readonly pooler?: boolean
  /** Most connections at once, that of LISTEN apart. */
  readonly poolSize?: number
  /** Most calls that wait for a connection. */
  readonly maxWaiting?: number
  /** Longest wait for a connection, and longest connect, in ms. */
  readonly connectTimeoutMs?: number
  /** Longest single statement, in ms. */
  readonly statementTimeoutMs?: number
  /** Opens a database into which a store is being moved; refused otherwise, because half of it is missing. */
  readonly duringMove?: boolean
  /** Told of lost connections that no call waits for: one of the pool, or the one that listens. */
  readonly onConnectionError?: (error: Error, connection: 'pool' | 'listen') => void
}
