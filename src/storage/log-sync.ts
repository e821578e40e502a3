import { closeSync, fdatasyncSync, openSync } from 'node:fs'
import { StoreClosedError } from './errors.ts'

/** The write-ahead log of a database file. */
export const logOf = (file: string): string => `${file}-wal`

/**
 * Brings the write-ahead log to disk after a commit. The SQLite inside Node is built without fdatasync: left to
 * itself it flushes the inode with every commit as well, which costs twice as much.
 */
export class LogSync {
  readonly #file: string
  #descriptor: number | undefined
  #failure: StoreClosedError | undefined

  /** `file` is the path of the log, which exists from the first commit on. */
  constructor(file: string) {
    this.#file = file
  }

  /** @throws StoreClosedError once a flush has failed: what the system dropped then, no later one brings back */
  check(): void {
    if (this.#failure !== undefined) throw this.#failure
  }

  /** Returns when every commit made so far is durable. @throws StoreClosedError as `check` */
  flush(): void {
    this.check()
    try {
      // Opened once: the log is written over from its start, but never replaced while the database is open.
      this.#descriptor ??= openSync(this.#file, 'r+')
      fdatasyncSync(this.#descriptor)
    } catch (cause) {
      this.#failure = new StoreClosedError({ cause })
      throw this.#failure
    }
  }

  /** No commit may follow. */
  close(): void {
    if (this.#descriptor !== undefined) closeSync(this.#descriptor)
    this.#descriptor = undefined
  }
}
