import { freshId } from '../../message-id.ts'
import type { Context } from './context.ts'
import { change } from './rows.ts'
import type { PartitionState } from './state.ts'

/** The error text of a row whose ack gave none. Queue API 8.1. */
const DEFAULT_ERROR = 'Retries exhausted'

/** Why and for whom a message is given up. */
export interface Verdict {
  readonly group: string
  readonly error: string | null
  readonly retryCount: number
  readonly nowUs: number
}

/** Files copies of messages in the dead-letter queue. Queue API 8. */
export class DeadLetterFile {
  readonly #context: Context
  readonly #insert

  constructor(context: Context) {
    this.#context = context
    this.#insert = change(
      context.db,
      `INSERT INTO dead_letter (uuid, queue_id, partition_id, partition_uuid, partition_name,
         group_name, message_id, transaction_id, trace_id, producer_sub, encrypted, payload,
         created_at, failed_at, error, retry_count)
       SELECT ?, ?, partition_id, ?, ?, ?, id, transaction_id, trace_id, producer_sub, encrypted,
         payload, created_at, ?, ?, ?
       FROM message WHERE partition_id = ? AND position = ?`,
    )
  }

  /** Copies the message at a position; answers the id of the row. */
  file(partition: PartitionState, position: number, verdict: Verdict): string {
    const { queue } = partition
    const dlqId = freshId(Math.floor(verdict.nowUs / 1000))
    this.#insert(
      dlqId,
      queue.id,
      partition.uuid,
      partition.name,
      verdict.group,
      verdict.nowUs,
      verdict.error === null || verdict.error === '' ? DEFAULT_ERROR : verdict.error,
      verdict.retryCount,
      partition.id,
      position,
    )
    this.#context.tally.queue(queue.id, 'dead', 1)
    return dlqId
  }
}
