import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { StoreLockedError } from './errors.ts'
import { makeFolder } from './folder.ts'

/** The file whose lock says who owns the folder. */
const LOCK_FILE = 'hivegate.lock'

/**
 * Takes the data folder for this process, making it if need be. The lock is the operating system's
 * own file lock, held through SQLite: it goes with the process, however that ends, so that nothing
 * has to be cleaned up after `kill -9`. Closing the result gives the folder back.
 * @throws StoreLockedError when another process, or another store in this one, has it
 */
export function lockFolder(dataDir: string): DatabaseSync {
  makeFolder(dataDir)
  const lock = new DatabaseSync(join(dataDir, LOCK_FILE))
  try {
    lock.exec('PRAGMA busy_timeout = 0; BEGIN EXCLUSIVE')
    return lock
  } catch (error) {
    lock.close()
    if (error instanceof Error && /locked|busy/.test(error.message)) {
      throw new StoreLockedError(dataDir)
    }
    throw error
  }
}
