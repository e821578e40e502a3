import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { StoreLockedError } from './errors.ts'
import { makeFolder } from './folder.ts'

/** The file whose lock says who owns the folder. */
const LOCK_FILE = 'hivegate.lock'

/** The file holds nothing, so that a damaged one may simply go, as long as nobody relies on it. */
function damageOf(file: string, error: unknown): string {
  const reason = error instanceof Error ? error.message : String(error)
  return `the lock file "${file}" cannot be used (${reason}); stop every broker on this folder, then remove that file`
}

/**
 * Takes the data folder for this process, making it if need be. The lock is the operating system's
 * own file lock, held through SQLite: it goes with the process, however that ends, so that nothing
 * has to be cleaned up after `kill -9`. Closing the result gives the folder back.
 * @throws StoreLockedError when another process, or another store in this one, has it; Error that names the file
 * when it is damaged
 */
export function lockFolder(dataDir: string): DatabaseSync {
  makeFolder(dataDir)
  const file = join(dataDir, LOCK_FILE)
  const lock = new DatabaseSync(file)
  try {
    lock.exec('PRAGMA busy_timeout = 0; BEGIN EXCLUSIVE')
    return lock
  } catch (error) {
    lock.close()
    if (error instanceof Error && /locked|busy/.test(error.message)) {
      throw new StoreLockedError(dataDir)
    }
    throw new Error(damageOf(file, error), { cause: error })
  }
}
