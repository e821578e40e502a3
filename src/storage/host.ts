import { join } from 'node:path'
import type { RawOutcome } from './connection.ts'
import { StoreClosedError, StoreFailedError } from './errors.ts'
import { makeFolder } from './folder.ts'
import type { CommitOutcome, ModuleSpec, SqliteHost } from './module.ts'
import { outcomesOf, StoreThread } from './thread.ts'

/** The one database file below `DATA_DIR`. */
export const DATABASE_FILE = 'hivegate.db'

/** How the embedded store is opened. */
export interface SqliteHostOptions {
  /** Folder of the database and its lock; made if absent. */
  readonly dataDir: string
  readonly modules: readonly ModuleSpec[]
}

function finished(outcome: RawOutcome): CommitOutcome {
  if ('failed' in outcome) return { ok: false, error: new StoreFailedError(outcome.failed) }
  return { ok: true, value: outcome.value }
}

/**
 * Opens the embedded store: writes in one worker thread, reads in a second one.
 * @throws StoreLockedError when another process has the folder; StoreSchemaError for a newer file
 */
export async function openSqliteHost(options: SqliteHostOptions): Promise<SqliteHost> {
  const { dataDir, modules: specs } = options
  makeFolder(dataDir)
  const file = join(dataDir, DATABASE_FILE)
  // The reader may open only after the writer has the lock and has brought the tables up to date.
  const writer = await StoreThread.start({ role: 'writer', dataDir, file, specs })
  const reader = await StoreThread.start({ role: 'reader', dataDir, file, specs }).catch(
    async (error: unknown) => {
      await writer.close()
      throw error
    },
  )
  return {
    async commit(module, batch) {
      return outcomesOf(await writer.ask({ do: 'commit', module, batch })).map(finished)
    },
    async read(module, query) {
      const reply = await reader.ask({ do: 'read', module, query })
      return 'value' in reply ? reply.value : undefined
    },
    async ping() {
      // A long listing may keep the reader busy; the store is up as long as it takes writes.
      await writer.ask({ do: 'ping' })
    },
    async close() {
      await reader.close()
      await writer.close()
    },
  }
}

/**
 * The same store without threads, on a path or `:memory:`, for tests that need thousands of runs.
 * Nothing guards the file against a second process, and a commit is not brought to disk at once.
 */
export async function openInlineHost(
  specs: readonly ModuleSpec[],
  file = ':memory:',
): Promise<SqliteHost> {
  // Loaded here alone, so that a process whose store lives in threads never loads node:sqlite itself.
  const { openWriter } = await import('./connection.ts')
  const connection = await openWriter(file, specs)
  let open = true
  const checkOpen = (): void => {
    if (!open) throw new StoreClosedError()
  }
  return {
    async commit(module, batch) {
      checkOpen()
      return connection.commit(module, batch).map(finished)
    },
    async read(module, query) {
      checkOpen()
      return connection.read(module, query)
    },
    async ping() {
      checkOpen()
    },
    async close() {
      if (open) connection.close()
      open = false
    },
  }
}
