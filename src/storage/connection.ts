import { DatabaseSync, type StatementSync } from 'node:sqlite'
import { migrate } from './migrate.ts'
import type { ModuleSpec, StoreModule, StoreSession } from './module.ts'

/** Outcome of one operation inside the store's thread; `failed` is the message of what was thrown. */
export type RawOutcome = { readonly value: unknown } | { readonly failed: string }

/** Memory for pages of the database, in KiB: hot partitions stay in memory. */
const CACHE_KIB = 65_536
/** Pages in the write-ahead log before it is folded back: 16 MiB, so that folding is rare and short. */
const CHECKPOINT_PAGES = 4000

/** Loads the modules by URL; the thread that serves them calls this, so that code is all that is shared. */
export async function loadModules(specs: readonly ModuleSpec[]): Promise<readonly StoreModule[]> {
  return Promise.all(
    specs.map(async (spec) => {
      const loaded: { storeModule?: StoreModule } = await import(spec.url)
      if (loaded.storeModule === undefined) throw new Error(`${spec.url} exports no storeModule`)
      return loaded.storeModule
    }),
  )
}

/** One connection with its modules opened on it. */
export interface Connection {
  commit(module: string, batch: readonly unknown[]): readonly RawOutcome[]
  read(module: string, query: unknown): unknown
  close(): void
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

/** The writing side: one transaction per batch. */
class Writer {
  readonly #db: DatabaseSync
  readonly #begin: StatementSync
  readonly #commit: StatementSync

  constructor(db: DatabaseSync) {
    this.#db = db
    this.#begin = db.prepare('BEGIN IMMEDIATE')
    this.#commit = db.prepare('COMMIT')
  }

  /** Runs the batch in one transaction; if anything throws, once more, each operation on its own. */
  commit(session: StoreSession, batch: readonly unknown[]): readonly RawOutcome[] {
    try {
      return this.#inOneTransaction(session, batch).map((value) => ({ value }))
    } catch (error) {
      if (batch.length === 1) return [{ failed: messageOf(error) }]
      return batch.flatMap((operation) => this.commit(session, [operation]))
    }
  }

  #inOneTransaction(session: StoreSession, batch: readonly unknown[]): readonly unknown[] {
    this.#begin.run()
    try {
      const results = session.write(batch)
      this.#commit.run()
      return results
    } catch (error) {
      if (this.#db.isTransaction) this.#db.exec('ROLLBACK')
      session.reset?.()
      throw error
    }
  }
}

function openSessions(
  db: DatabaseSync,
  modules: readonly StoreModule[],
  specs: readonly ModuleSpec[],
): ReadonlyMap<string, StoreSession> {
  return new Map(modules.map((module, i) => [module.name, module.open(db, specs[i]?.options)]))
}

function sessionOf(sessions: ReadonlyMap<string, StoreSession>, module: string): StoreSession {
  const session = sessions.get(module)
  if (session === undefined) throw new Error(`no store module is named "${module}"`)
  return session
}

/** Reads inside one transaction, so that all statements of one read see the same state. */
function readSnapshot(db: DatabaseSync, session: StoreSession, query: unknown): unknown {
  db.exec('BEGIN')
  try {
    return session.read(query)
  } finally {
    db.exec('COMMIT')
  }
}

function connectionOn(
  db: DatabaseSync,
  modules: readonly StoreModule[],
  specs: readonly ModuleSpec[],
): Connection {
  const sessions = openSessions(db, modules, specs)
  const writer = new Writer(db)
  return {
    commit: (module, batch) => writer.commit(sessionOf(sessions, module), batch),
    read: (module, query) => readSnapshot(db, sessionOf(sessions, module), query),
    close: () => db.close(),
  }
}

/**
 * Opens the writing connection on `file` (a path or `:memory:`) and brings the tables up to date. A commit is
 * durable after LogSync.flush: NORMAL leaves the flush of the log to it.
 */
export async function openWriter(file: string, specs: readonly ModuleSpec[]): Promise<Connection> {
  const modules = await loadModules(specs)
  const db = new DatabaseSync(file)
  try {
    db.exec(
      `PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA temp_store = MEMORY;
       PRAGMA cache_size = -${CACHE_KIB}; PRAGMA wal_autocheckpoint = ${CHECKPOINT_PAGES}`,
    )
    for (const module of modules) migrate(db, module)
    return connectionOn(db, modules, specs)
  } catch (error) {
    db.close()
    throw error
  }
}

/** Opens the read-only connection on a file that the writer has already prepared. */
export async function openReader(file: string, specs: readonly ModuleSpec[]): Promise<Connection> {
  const modules = await loadModules(specs)
  const db = new DatabaseSync(file, { readOnly: true })
  db.exec(`PRAGMA temp_store = MEMORY; PRAGMA cache_size = -${CACHE_KIB}`)
  return connectionOn(db, modules, specs)
}
