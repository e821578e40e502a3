import type { Claim, PoppedMessage } from '../../store.ts'
import { maturesAtUs } from './append.ts'
import type { Context } from './context.ts'
import { endLease, leaseLives } from './cursors.ts'
import type { CursorRow, MessageRow, PartitionState, QueueState } from './state.ts'
import { SECOND_US } from './state.ts'

/** Lease length when neither the request nor the queue names one above 0. Queue API 3.4. */
const FALLBACK_LEASE_S = 60

/** What a pop wants of one partition. */
export interface ClaimWish {
  /** Most messages. */
  readonly limit: number
  /** `''` with autoAck: nothing is leased. */
  readonly leaseId: string
  readonly leaseSeconds: number | null
  readonly nowUs: number
}

/** Marks the cursor as used; the group then "has a cursor" on the partition. */
export function startCursor(context: Context, row: CursorRow): void {
  if (row.started === 1) return
  row.started = 1
  context.tally.subscription(row.subscription_id, 'members', 1)
}

function leaseUs(queue: QueueState, wanted: number | null): number {
  if (wanted !== null && wanted > 0) return wanted * SECOND_US
  const own = queue.options.leaseTime
  return (own > 0 ? own : FALLBACK_LEASE_S) * SECOND_US
}

function popped(context: Context, row: MessageRow): PoppedMessage {
  return {
    id: row.id,
    transactionId: row.transaction_id,
    traceId: row.trace_id,
    payload: row.encrypted === 1 ? context.cipher.open(row.payload) : row.payload,
    producerSub: row.producer_sub,
    createdAtUs: row.created_at,
  }
}

/** The messages that are old enough; later ones wait behind the first that is not. Queue API 3.6. */
function mature(rows: readonly MessageRow[], queue: QueueState, nowUs: number) {
  const { delayedProcessing } = queue.options
  if (delayedProcessing <= 0) return rows
  const latestUs = nowUs - delayedProcessing * SECOND_US
  const young = rows.findIndex((row) => row.created_at > latestUs)
  return young === -1 ? rows : rows.slice(0, young)
}

/**
 * Takes the next messages of one partition for one group, or notes in the ready-list when to look
 * again. The partition is never left in the list with a moment that has passed and nothing to give.
 */
export function claim(
  context: Context,
  row: CursorRow,
  partition: PartitionState,
  wish: ClaimWish,
): Claim | null {
  if (leaseLives(row, wish.nowUs)) return null
  const { queue } = partition
  const windowEndUs = partition.stampUs + queue.options.windowBuffer * SECOND_US
  const closed = queue.options.windowBuffer > 0 && windowEndUs > wish.nowUs
  const stored = closed ? [] : context.messages.after(partition, row.position, wish.limit)
  const rows = mature(stored, queue, wish.nowUs)
  const last = rows.at(-1)
  if (last === undefined) {
    waitLonger(context, row, partition)
    return null
  }
  const { position: after, retry_count: retryCount } = row
  if (row.lease_id !== null) context.note(queue, 'leasesExpired')
  startCursor(context, row)
  if (wish.leaseId === '') consume(context, row, partition, { rows, upTo: last.position, wish })
  else lease(context, row, partition, { rows, upTo: last.position, wish })
  return {
    queue: queue.name,
    partition: partition.name,
    partitionId: partition.uuid,
    retryCount,
    after,
    upTo: last.position,
    messages: rows.map((message) => popped(context, message)),
  }
}

interface Taken {
  readonly rows: readonly MessageRow[]
  readonly upTo: number
  readonly wish: ClaimWish
}

function lease(context: Context, row: CursorRow, partition: PartitionState, taken: Taken): void {
  const { rows, upTo, wish } = taken
  const untilUs = wish.nowUs + leaseUs(partition.queue, wish.leaseSeconds)
  row.lease_id = wish.leaseId
  row.lease_until = untilUs
  row.lease_end = upTo
  row.lease_left = rows.length
  row.ready_at = untilUs
  context.cursors.save(row)
  context.wake(partition.queue, untilUs)
}

function consume(context: Context, row: CursorRow, partition: PartitionState, taken: Taken): void {
  const { rows, upTo, wish } = taken
  row.position = upTo
  row.retry_count = 0
  endLease(row)
  context.rest(row, partition, wish.nowUs)
  context.cursors.settle(row, { consumed: rows.length, batches: 1, failed: 0 }, wish.nowUs)
  context.tally.subscription(row.subscription_id, 'passed', rows.length)
  context.tally.subscription(row.subscription_id, 'consumed', rows.length)
}

/** Nothing to give now: the ready-list gets the moment at which that may change. */
function waitLonger(context: Context, row: CursorRow, partition: PartitionState): void {
  const first = context.messages.firstFrom(partition, row.position + 1)
  // A lease that ran out stays on record, yet its entry must not stay due for ever.
  row.ready_at =
    first === undefined ? null : maturesAtUs(partition.queue, first.created_at, partition.stampUs)
  if (row.ready_at === null) partition.allReady = false
  context.cursors.save(row)
}
