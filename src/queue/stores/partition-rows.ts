import type { PartitionRow } from '../store.ts'

/** A partition with what listings show of it; moments are in microseconds. */
export interface PartitionFigures {
  readonly uuid: string
  readonly name: string
  readonly queue: string
  readonly created_at: number
  readonly total: number
  /** What the view that is furthest behind has before it: the queue-mode cursor, else the lowest. */
  readonly pending: number
  readonly processing: number
  readonly failed: number
  readonly dead: number
  readonly oldest: number | null
  readonly newest: number | null
  readonly consumed: number
  readonly batches: number
  readonly consumed_at: number | null
}

/** A partition as listings show it. Queue API 9. */
export function partitionRow(row: PartitionFigures): PartitionRow {
  return {
    id: row.uuid,
    name: row.name,
    queue: row.queue,
    createdAtUs: row.created_at,
    counts: {
      total: row.total,
      pending: row.pending,
      processing: row.processing,
      completed: row.total - row.pending,
      failed: row.failed,
      deadLetter: row.dead,
    },
    oldestMessageUs: row.oldest,
    newestMessageUs: row.newest,
    totalConsumed: row.consumed,
    batchesConsumed: row.batches,
    lastConsumedAtUs: row.consumed_at,
  }
}
