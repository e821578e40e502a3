import type { ReplayResult, Writes } from '../../store.ts'
import {
  REPLAY_COLUMNS,
  type ReplayColumns,
  replayedItem,
  replayResult,
} from '../dead-letter-rows.ts'
import type { Appender } from './append.ts'
import { startCursor } from './claim.ts'
import type { Context } from './context.ts'
import { endLease } from './cursors.ts'
import type { DeadLetterFile } from './dead-letters.ts'
import { change, query } from './rows.ts'
import type { CursorRow, PartitionState } from './state.ts'
import type { SubscriptionTable } from './subscriptions.ts'

type Args<K extends keyof Writes> = Writes[K]['args']
type Result<K extends keyof Writes> = Writes[K]['result']

const LIVE = 'dead_letter d JOIN queue q ON q.id = d.queue_id AND q.deleted = 0'

/** Deletion, replay and manual filing of dead letters. Queue API 8.2 to 8.5. */
export class DlqDesk {
  readonly #context: Context
  readonly #parts
  readonly #sql

  constructor(
    context: Context,
    parts: {
      readonly appender: Appender
      readonly subscriptions: SubscriptionTable
      readonly deadLetters: DeadLetterFile
    },
  ) {
    this.#context = context
    this.#parts = parts
    const { db } = context
    this.#sql = {
      byId: query<ReplayColumns>(db, `SELECT ${REPLAY_COLUMNS} FROM ${LIVE} WHERE d.uuid = ?`),
      byAddress: query<ReplayColumns>(
        db,
        `SELECT ${REPLAY_COLUMNS} FROM ${LIVE} WHERE d.partition_uuid = ? AND d.transaction_id = ?
         ORDER BY d.failed_at DESC, d.id DESC LIMIT 1`,
      ),
      remove: change(db, 'DELETE FROM dead_letter WHERE uuid = ?'),
      removeAll: change(
        db,
        'DELETE FROM dead_letter WHERE queue_id = ?1 AND (?2 IS NULL OR group_name = ?2)',
      ),
    }
  }

  delete({ queue: name, group }: Args<'deleteDlq'>): Result<'deleteDlq'> {
    const queue = this.#context.queues.byName(name)
    if (queue === undefined) return { deleted: 0 }
    const deleted = this.#sql.removeAll(queue.id, group)
    this.#context.tally.queue(queue.id, 'dead', -deleted)
    return { deleted }
  }

  /** Pushes the copy again under a transaction id made of the row's, and removes the row. */
  replay({ by, queue, partition, nowUs }: Args<'replayDlq'>): ReplayResult {
    const row =
      'dlqId' in by
        ? this.#sql.byId.one(by.dlqId)
        : this.#sql.byAddress.one(by.partitionId, by.transactionId)
    const origin = row === undefined ? undefined : this.#context.queues.byId(row.queue_id)
    if (row === undefined || origin === undefined) return { result: 'gone' }
    const target = { queue: queue ?? origin.name, partition: partition ?? row.partition_name }
    const item = replayedItem(row, target, this.#context.cipher)
    const pushed = this.#parts.appender.append([item], row.producer_sub, nowUs)[0]
    if (pushed === undefined) return { result: 'gone' }
    this.#sql.remove(row.uuid)
    this.#context.tally.queue(origin.id, 'dead', -1)
    return replayResult(row, target, pushed)
  }

  /** Files the group's next message; any other one would leave a gap that the cursor cannot keep. */
  move(args: Args<'moveToDlq'>): Result<'moveToDlq'> {
    const { partitionId, transactionId, group, error, nowUs } = args
    const { messages, partitions } = this.#context
    const partition = partitions.byUuid(partitionId)
    if (partition === undefined) return { result: 'unknown' }
    const positions = messages.positionsOf(partition, transactionId)
    if (positions.length === 0) return { result: 'unknown' }
    const subscription = this.#parts.subscriptions.ensure(partition.queue, group)
    const row = this.#parts.subscriptions.cursor(subscription, partition, nowUs)
    const next = messages.firstFrom(partition, row.position + 1)
    if (next === undefined || !positions.includes(next.position)) return { result: 'not_next' }
    const verdict = { group, error: error ?? 'Moved to DLQ manually', retryCount: 0, nowUs }
    const file = { ...verdict, retryCount: row.retry_count }
    const dlqId = this.#parts.deadLetters.file(partition, next.position, file)
    this.#pass(row, partition, next.position, nowUs)
    return { result: 'moved', dlqId }
  }

  /** The cursor moves past the message; a lease goes on for what is left of its span. */
  #pass(row: CursorRow, partition: PartitionState, position: number, nowUs: number): void {
    startCursor(this.#context, row)
    row.position = position
    row.retry_count = 0
    row.lease_left = Math.max(0, row.lease_left - 1)
    if (row.lease_end !== null && row.lease_end <= position) endLease(row)
    if (row.lease_id === null) this.#context.rest(row, partition, nowUs)
    this.#context.cursors.save(row)
    this.#context.tally.subscription(row.subscription_id, 'passed', 1)
  }
}
