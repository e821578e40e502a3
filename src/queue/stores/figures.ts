import type { Counts, ListFilter, QueueRow, Spread } from '../store.ts'

/** A live queue with its running totals and the lag of its groups, as every store reads it. */
export interface QueueFigures {
  readonly id: number
  readonly uuid: string
  readonly name: string
  readonly namespace: string
  readonly task: string
  readonly priority: number
  readonly created_at: number
  readonly partitions: number
  readonly pushed: number
  readonly stored: number
  readonly dead: number
  /** Lag of the consumers without a group; null when there are none. */
  readonly queue_lag: number | null
  /** Lag of the slowest group; null when there is none. */
  readonly group_lag: number | null
  readonly consumed: number
  readonly failed: number
}

/** Which queues are wanted; null matches all. */
export type QueueFilter = Omit<ListFilter, 'nowUs'>

/** Every live queue. */
export const ALL_QUEUES: QueueFilter = {
  namespace: null,
  task: null,
  search: null,
  limit: null,
  offset: 0,
}

/** The counters of queue API 9; what no view is behind on counts as completed. */
export function countsOf(queue: QueueFigures, processing: number): Counts {
  const pending = queue.queue_lag ?? queue.group_lag ?? queue.stored
  return {
    total: queue.stored,
    pending,
    processing,
    completed: queue.stored - pending,
    failed: queue.failed,
    deadLetter: queue.dead,
  }
}

/** Adds counters up. */
export function sumCounts(counts: readonly Counts[]): Counts {
  const sum = (pick: (one: Counts) => number): number =>
    counts.reduce((total, one) => total + pick(one), 0)
  return {
    total: sum((one) => one.total),
    pending: sum((one) => one.pending),
    processing: sum((one) => one.processing),
    completed: sum((one) => one.completed),
    failed: sum((one) => one.failed),
    deadLetter: sum((one) => one.deadLetter),
  }
}

/** A queue as listings show it. */
export function queueRow(queue: QueueFigures, processing: number): QueueRow {
  return {
    id: queue.uuid,
    name: queue.name,
    namespace: queue.namespace,
    task: queue.task,
    priority: queue.priority,
    createdAtUs: queue.created_at,
    partitions: queue.partitions,
    counts: countsOf(queue, processing),
  }
}

/** Smallest, largest, middle and mean of some figures; zeros when there are none. */
export function spreadOf(values: readonly number[]): Spread {
  const sorted = [...values].sort((a, b) => a - b)
  const middle = Math.floor(sorted.length / 2)
  const high = sorted[middle] ?? 0
  const low = sorted[sorted.length % 2 === 0 ? middle - 1 : middle] ?? high
  const sum = sorted.reduce((all, value) => all + value, 0)
  return {
    avg: sorted.length === 0 ? 0 : sum / sorted.length,
    median: (low + high) / 2,
    min: sorted[0] ?? 0,
    max: sorted.at(-1) ?? 0,
  }
}

/** Age of a moment in seconds; a clock behind the one that wrote it makes no negative age. */
export function ageSeconds(us: number, nowUs: number): number {
  return Math.max(0, (nowUs - us) / 1_000_000)
}
