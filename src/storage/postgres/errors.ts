import pg from 'pg'
import { StoreError, StoreFailedError, StoreTextError, StoreUnavailableError } from '../errors.ts'

/**
 * SQLSTATEs that say nothing about the statement itself: the server is away, full, shutting down, a standby, or
 * took too long (PostgreSQL manual, appendix A). Two characters name a class.
 */
const AWAY = new Set([
  '08', // connection exception
  '53', // insufficient resources: connections, memory, disk
  '58', // system error of the server
  '28', // invalid authorization: the password was changed, pg_hba refuses
  '3D', // the database is not there (any more)
  '25006', // read-only: a standby, or a primary that was demoted
  '25P03', // idle in transaction for too long
  '40001', // serialization failure
  '40P01', // deadlock, after the tries of `transaction`
  '55P03', // lock not available
  '57014', // cancelled: statement timeout
  '57P01', // administrator shutdown, pg_terminate_backend
  '57P02', // crash shutdown
  '57P03', // cannot connect now: starting up
  '57P05', // idle for too long
])

/** SQLSTATEs of text that the server cannot hold: a NUL character, as it is or as an escape in jsonb. */
const TEXT = new Set(['22021', '22P05'])

/** SQLSTATEs of a transaction that was rolled back for the sake of another one. */
const CLASHES = new Set(['40001', '40P01'])

/** SQLSTATEs after which the connection must not be used again: it is dead, or leads to the wrong server. */
const FATAL = new Set(['08', '25006', '25P03', '57P01', '57P02', '57P03', '57P05'])

function stateIn(states: ReadonlySet<string>, state: string | undefined): boolean {
  return state !== undefined && (states.has(state) || states.has(state.slice(0, 2)))
}

/** The SQLSTATE of an error of `pg` or of the store error made from it. */
export function sqlState(error: unknown): string | undefined {
  if (error instanceof pg.DatabaseError) return error.code
  return error instanceof StoreError ? sqlState(error.cause) : undefined
}

/** True when the transaction was rolled back to resolve a clash and may simply be run again. */
export function isClash(error: unknown): boolean {
  return stateIn(CLASHES, sqlState(error))
}

/** True when the connection that an error of `pg` came from has to go. */
export function endsConnection(error: unknown): boolean {
  return error instanceof pg.DatabaseError ? stateIn(FATAL, error.code) : true
}

/**
 * The store's own error for what `pg` threw while connecting or in a statement. Whatever the server did not say
 * itself comes from the connection.
 */
export function storeError(error: unknown): StoreError {
  if (error instanceof StoreError) return error
  if (!(error instanceof pg.DatabaseError)) return new StoreUnavailableError({ cause: error })
  if (stateIn(AWAY, error.code)) return new StoreUnavailableError({ cause: error })
  if (stateIn(TEXT, error.code)) return new StoreTextError({ cause: error })
  return new StoreFailedError(error.message, { cause: error })
}
