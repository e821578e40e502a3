import { closeSync, fdatasync, openSync } from 'node:fs'

/** The write-ahead log of a database file. */
export const logOf = (file: string): string => `${file}-wal`

/** Told when what was committed before the call is on disk, or why that cannot be said. */
export type SyncListener = (error: Error | null) => void

/**
 * Brings the write-ahead log to disk after commits. The SQLite inside Node is built without fdatasync: left to
 * itself it flushes the inode with every commit, which costs twice as much, and it waits for the disk meanwhile.
 * Here one flush runs beside the next batch and answers for every commit that was made before it began.
 */
export class LogSync {
  readonly #file: string
  #descriptor: number | undefined
  #waiting: SyncListener[] = []
  #running = false
  #failure: Error | null = null

  /** `file` is the path of the log, which exists from the first commit on. */
  constructor(file: string) {
    this.#file = file
  }

  /** True once a flush has failed: what the system dropped then, no later flush can bring back. */
  get failed(): boolean {
    return this.#failure !== null
  }

  /** Calls back once every commit made so far is durable; always with the failure after a failed flush. */
  after(listener: SyncListener): void {
    this.#waiting.push(listener)
    if (!this.#running) this.#flush()
  }

  /** No commit may follow. */
  close(): void {
    if (this.#descriptor !== undefined) closeSync(this.#descriptor)
    this.#descriptor = undefined
  }

  #flush(): void {
    const listeners = this.#waiting
    this.#waiting = []
    this.#running = true
    const done: SyncListener = (error) => {
      this.#running = false
      this.#failure ??= error
      for (const listener of listeners) listener(this.#failure)
      if (this.#waiting.length > 0 && !this.#running) this.#flush()
    }
    try {
      // Opened once: the log is written over from its start, but never replaced while the database is open.
      this.#descriptor ??= openSync(this.#file, 'r+')
    } catch (error) {
      done(error instanceof Error ? error : new Error(String(error)))
      return
    }
    fdatasync(this.#descriptor, done)
  }
}
