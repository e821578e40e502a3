import type { BufferState, PushItem } from '../store.ts'
import { isSet, type SealedColumns } from './stored-flags.ts'

/** A push that waits in the buffer of push maintenance, as its row holds it. */
export interface BufferedColumns extends SealedColumns {
  readonly seq: number
  readonly queue: string
  readonly partition: string
  readonly namespace: string | null
  readonly task: string | null
  readonly message_id: string
  readonly transaction_id: string
  readonly trace_id: string | null
  readonly producer_sub: string | null
}

/** A message that was diverted and is now stored with the id and the payload it got then. */
export interface KeptMessage {
  readonly item: PushItem
  readonly id: string
  readonly encrypted: boolean
  readonly producerSub: string | null
}

/** A buffered push as the replay stores it. Queue API 13.1. */
export function keptOf(row: BufferedColumns): KeptMessage {
  return {
    item: {
      queue: row.queue,
      partition: row.partition,
      payload: row.payload,
      transactionId: row.transaction_id,
      traceId: row.trace_id,
      namespace: row.namespace,
      task: row.task,
    },
    id: row.message_id,
    encrypted: isSet(row.encrypted),
    producerSub: row.producer_sub,
  }
}

/** The counts of a buffer; `oldest` is in microseconds, null when nothing waits. */
export interface BufferColumns {
  readonly pending: number
  readonly failed: number
  readonly oldest: number | null
}

/** The state of the buffer. Queue API 13.1. */
export function bufferState(row: BufferColumns | undefined): BufferState {
  return { pending: row?.pending ?? 0, failed: row?.failed ?? 0, oldestUs: row?.oldest ?? null }
}
