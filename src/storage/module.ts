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
 * The file that defines it exports it as `storeModule`, so that the worker can import it by URL.
 */
export interface StoreModule {
  /** Short name, unique in one store; also keys the module's migrations. */
  readonly name: string
  readonly migrations: readonly Migration[]
  /** Prepares the statements. `options` is plain data from the wing (keys, limits). */
  open(db: DatabaseSync, options: unknown): StoreSession
}

/** A module on one open connection: `write` is called on the writing one, `read` on the other. */
export interface StoreSession {
  /**
   * Applies one batch inside the write transaction that the host opened; results in request order.
   * A business refusal is a result; a throw rolls the whole batch back, and the host then runs the
   * operations one by one, so that only the faulty one fails.
   */
  write(batch: readonly unknown[]): readonly unknown[]
  /** Answers one read in one snapshot, which holds every commit that was answered before. */
  read(query: unknown): unknown
  /** Called after a rollback: whatever was remembered from the undone transaction must go. */
  reset?(): void
}

/** Names one module for the host: where its file is, and the plain data handed to `open`. */
export interface ModuleSpec {
  /** `file:` URL of a file that exports `storeModule`; see `siblingUrl`. */
  readonly url: string
  readonly options?: unknown
}

/** What became of one write operation. */
export type CommitOutcome =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly error: Error }

/** The embedded database, shared by all wings. */
export interface SqliteHost {
  /**
   * Applies the batch in one transaction and answers after COMMIT; outcomes in request order.
   * @throws StoreClosedError when the store is closed or its thread has died
   */
  commit(module: string, batch: readonly unknown[]): Promise<readonly CommitOutcome[]>
  /**
   * Answers from the read-only connection, so that a long listing never holds up writes.
   * @throws StoreFailedError with the module's message; StoreClosedError as above
   */
  read(module: string, query: unknown): Promise<unknown>
  /** Resolves when both connections answer. @throws StoreClosedError */
  ping(): Promise<void>
  /** Finishes what was submitted, folds the log into the file and gives the lock back. */
  close(): Promise<void>
}
