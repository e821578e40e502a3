import type { Statements, Tx } from '../../../storage/index.ts'
import type { PayloadCipher } from '../../cipher.ts'
import type { ReadKind, Reads, StoreNote, Wake, WriteKind, Writes } from '../../store.ts'

/** What every handler is given beside its arguments. */
export interface StoreContext {
  readonly cipher: PayloadCipher
}

/** What one write answers: its result, who may look again, and what figures count. */
export interface Answer<T> {
  readonly value: T
  readonly wakes: readonly Wake[]
  readonly notes: readonly StoreNote[]
}

/** An answer that wakes nobody. */
export function quiet<T>(value: T): Answer<T> {
  return { value, wakes: [], notes: [] }
}

/** Thrown by a handler to take its transaction back and answer this all the same: a refusal is no fault. */
export class RolledBack extends Error {
  readonly answer: Answer<unknown>
  constructor(answer: Answer<unknown>) {
    super('rolled back')
    this.name = 'RolledBack'
    this.answer = answer
  }
}

/** One kind of write inside a transaction of its own; it may run again after a deadlock. */
export type WriteHandler<K extends WriteKind> = (
  tx: Tx,
  args: Writes[K]['args'],
  context: StoreContext,
) => Promise<Answer<Writes[K]['result']>>

/** One kind of read; all its statements see one snapshot. */
export type ReadHandler<K extends ReadKind> = (
  db: Statements,
  args: Reads[K]['args'],
  context: StoreContext,
) => Promise<Reads[K]['result']>

/** Kinds that have a set-based lane of their own and no handler. */
export type LaneKind = 'push' | 'pop' | 'ack'

export type WriteHandlers = { readonly [K in Exclude<WriteKind, LaneKind>]: WriteHandler<K> }
export type ReadHandlers = { readonly [K in ReadKind]: ReadHandler<K> }
