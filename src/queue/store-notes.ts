import type { QueueColumn } from './metrics/columns.ts'

/** Something that only the store sees and figures count: a lease that ran out, messages that retention removed. */
export interface StoreNote {
  readonly queue: string
  readonly column: QueueColumn
  readonly value: number
}
