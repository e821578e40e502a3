import type { Context } from './context.ts'

/** Thrown inside `allOrNothing` to take everything back; the message goes to the client. */
export class Refused extends Error {
  readonly code = 'refused'
}

/** What `apply` came to, or why nothing of it remains. */
export type Attempt<T> =
  | { readonly success: true; readonly value: T }
  | { readonly success: false; readonly error: string }

/**
 * Runs one operation of a batch so that a `Refused` leaves no trace of it, while the operations before and
 * after it in the same commit stand. Any other error passes through and fails the operation.
 */
export function allOrNothing<T>(context: Context, apply: () => T): Attempt<T> {
  const { db, tally } = context
  // Totals of earlier operations must survive a rollback to the savepoint.
  tally.flush()
  db.exec('SAVEPOINT one_operation')
  try {
    const value = apply()
    db.exec('RELEASE one_operation')
    return { success: true, value }
  } catch (error) {
    db.exec('ROLLBACK TO one_operation; RELEASE one_operation')
    tally.forget()
    context.forget()
    context.takeWakes()
    context.takeNotes()
    if (error instanceof Refused) return { success: false, error: error.message }
    throw error
  }
}
