import type { DatabaseUrl } from '../config/index.ts'
import { StoreError, StoreFailedError } from '../storage/index.ts'
import { BootError } from './boot-error.ts'

/** The words of what is wrong: the server's own, or the system's code. Neither holds the password. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  if (error.cause !== undefined) return reasonOf(error.cause)
  // A name with several addresses fails with one error for each.
  if (error instanceof AggregateError) return reasonOf(error.errors[0])
  const coded = 'syscall' in error && 'code' in error
  return coded ? String(error.code) : error.message
}

/** Where a database is, without user and password. */
export const placeOf = ({ host, port, database }: DatabaseUrl) => `${host}:${port}/${database}`

/** @throws BootError naming `DATABASE_URL` in one line */
export function refuse(url: DatabaseUrl, cause: unknown): never {
  if (!(cause instanceof StoreError)) throw cause
  const place = placeOf(url)
  const causeSaysAll = cause.status === 503 || cause instanceof StoreFailedError
  const reason = causeSaysAll ? reasonOf(cause) : [cause.message, reasonOf(cause)]
  const words = [...new Set([reason].flat())].join(': ').replaceAll(/\s+/g, ' ')
  throw new BootError(`DATABASE_URL: the database ${place} cannot be used (${words})`, { cause })
}
