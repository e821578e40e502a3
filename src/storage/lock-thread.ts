import { makeFolder } from './folder.ts'
import { StoreThread } from './thread.ts'

/** A folder that this process has for itself. */
export interface FolderLock {
  /** Gives the folder back. */
  close(): Promise<void>
}

/**
 * Takes a folder for this process like `lockFolder`, from a thread of its own: node:sqlite announces itself on
 * standard error of every process that loads it outside of one.
 * @throws StoreLockedError when another one has it; StoreFailedError for a lock file that cannot be used; the
 * system's error when the folder cannot be made
 */
export async function takeFolder(folder: string): Promise<FolderLock> {
  makeFolder(folder)
  return StoreThread.start({ role: 'lock', dataDir: folder, file: '', specs: [] })
}
