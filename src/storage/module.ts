import type { DatabaseSync } from 'node:sqlite'

/** One numbered step of a module's schema; applied once, in order, under the boot lock. */
export interface Migration {
  /** File name such as `001-queues.sql`; the number orders the steps. */
  readonly name: string
  readonly sql: string
}

/**
 * The part of the embedded store that one wing owns: its tables, its writes and its reads.
 * It lives inside the store's worker thread; requests and answers cross the thread as plain data.
 */
export interface StoreModule {
  /** Short name, unique in one store; also keys the module's migrations. */
  readonly name: string
  readonly migrations: readonly Migration[]
  /** Prepares the statements. `options` is plain data from the wing (keys, limits). */
  open(db: DatabaseSync, options: unknown): StoreSession
}

/** A module on one open connection. */
export interface StoreSession {
  /**
   * Applies one batch inside the write transaction that the host opened; results in request order.
   * A business refusal is a result; a throw rolls the whole batch back, and the host then runs the
   * operations one by one, so that only the faulty one fails.
   */
  write(batch: readonly unknown[]): readonly unknown[]
  /** Answers one read on a read-only connection, which sees every commit that was answered before. */
  read(query: unknown): unknown
}
