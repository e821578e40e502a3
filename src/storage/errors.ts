/** The store cannot be used; `code` is stable, `status` is the HTTP answer when a request meets it. */
export class StoreError extends Error {
  readonly code: StoreErrorCode
  readonly status: number
  /** Seconds for `Retry-After`; absent when trying again will not help. */
  readonly retryAfterS: number | undefined
  constructor(code: StoreErrorCode, message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = new.target.name
    this.code = code
    this.status = STATUS[code]
    this.retryAfterS = this.status === 503 ? 1 : undefined
  }
}

/** What can be wrong with a store. */
export type StoreErrorCode =
  | 'store_locked'
  | 'store_schema'
  | 'store_busy'
  | 'store_closed'
  | 'store_unavailable'
  | 'store_failed'
  | 'store_text'

const STATUS: Readonly<Record<StoreErrorCode, number>> = {
  store_locked: 503,
  store_schema: 500,
  store_busy: 503,
  store_closed: 503,
  store_unavailable: 503,
  store_failed: 500,
  store_text: 400,
}

/** Another process holds the data folder: two writers would each believe they own the cursors. */
export class StoreLockedError extends StoreError {
  constructor(dataDir: string) {
    super('store_locked', `DATA_DIR: "${dataDir}" is in use by another hivegate process`)
  }
}

/** The database was written by a newer version, or a migration cannot be applied. */
export class StoreSchemaError extends StoreError {
  constructor(message: string, options?: ErrorOptions) {
    super('store_schema', message, options)
  }
}

/** The bounded queue of waiting writes is full; nothing was stored. */
export class StoreBusyError extends StoreError {
  constructor(options?: ErrorOptions) {
    super('store_busy', 'The store is busy, try again', options)
  }
}

/** The store is closing, closed, or its thread has ended. */
export class StoreClosedError extends StoreError {
  constructor(options?: ErrorOptions) {
    super('store_closed', 'The store is closed', options)
  }
}

/** One operation failed inside the store and was rolled back. */
export class StoreFailedError extends StoreError {
  /** What went wrong, without the words around it. */
  readonly reason: string
  constructor(reason: string, options?: ErrorOptions, code: StoreErrorCode = 'store_failed') {
    super(code, `The store could not do this: ${reason}`, options)
    this.reason = reason
  }
}

/** A name or text that this kind of store cannot hold: PostgreSQL has no NUL character in text. */
export class StoreTextError extends StoreFailedError {
  constructor(options?: ErrorOptions) {
    super('it keeps no text with a NUL character', options, 'store_text')
  }
}

/**
 * The database cannot be reached, is restarting, or took too long; `cause` says which. What was asked for was
 * not done, unless the connection broke during COMMIT: then nobody can tell, and a transaction id makes the
 * second try safe.
 */
export class StoreUnavailableError extends StoreError {
  constructor(options?: ErrorOptions) {
    super('store_unavailable', 'The database is not available, try again', options)
  }
}
