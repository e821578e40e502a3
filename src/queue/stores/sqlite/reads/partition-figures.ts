import type { DatabaseSync } from 'node:sqlite'
import { QUEUE_MODE } from '../../../model.ts'
import type { PartitionRow } from '../../../store.ts'
import { partitionRow } from '../../partition-rows.ts'
import { query } from '../rows.ts'

/** A partition as it is read for listings. */
export interface PartitionColumns {
  readonly id: number
  readonly uuid: string
  readonly name: string
  readonly queue: string
  readonly created_at: number
  readonly head: number
  readonly holes: number
}

interface CursorColumns {
  readonly group_name: string
  readonly position: number
  readonly lease_until: number | null
  readonly lease_left: number
  readonly consumed: number
  readonly batches: number
  readonly failed: number
  readonly consumed_at: number | null
}

interface Edge {
  readonly position: number
  readonly created_at: number
}

/** Counts the messages of single partitions; a handful of index seeks each. */
export class PartitionFiguresReader {
  readonly #sql

  constructor(db: DatabaseSync) {
    const edge = 'SELECT position, created_at FROM message WHERE partition_id = ? AND position >= ?'
    this.#sql = {
      first: query<Edge>(db, `${edge} ORDER BY position LIMIT 1`),
      last: query<Edge>(db, `${edge} ORDER BY position DESC LIMIT 1`),
      count: query<{ n: number }>(
        db,
        'SELECT count(*) AS n FROM message WHERE partition_id = ? AND position > ? AND position <= ?',
      ),
      cursors: query<CursorColumns>(
        db,
        `SELECT s.group_name, c.position, c.lease_until, c.lease_left, c.consumed, c.batches,
           c.failed, c.consumed_at
         FROM cursor c JOIN subscription s ON s.id = c.subscription_id WHERE c.partition_id = ?`,
      ),
      dead: query<{ n: number }>(
        db,
        'SELECT count(*) AS n FROM dead_letter WHERE partition_uuid = ?',
      ),
    }
  }

  /** Stored messages above a position: the lag of a cursor that stands there. */
  lag(partition: Pick<PartitionColumns, 'id' | 'head' | 'holes'>, position: number): number {
    const from = Math.max(position, partition.head - 1)
    const last = this.#sql.last.one(partition.id, partition.head)
    if (last === undefined || last.position <= from) return 0
    if (partition.holes === 0) return last.position - from
    return this.#sql.count.one(partition.id, from, last.position)?.n ?? 0
  }

  /** When the first message above a position was made; null when there is none. */
  oldestAfter(partition: Pick<PartitionColumns, 'id' | 'head'>, position: number): number | null {
    const from = Math.max(position + 1, partition.head)
    return this.#sql.first.one(partition.id, from)?.created_at ?? null
  }

  row(partition: PartitionColumns, nowUs: number): PartitionRow {
    const cursors = this.#sql.cursors.all(partition.id)
    const total = this.lag(partition, 0)
    const view = this.#furthestBehind(cursors)
    const pending = view === null ? total : this.lag(partition, view)
    const live = cursors.filter((row) => row.lease_until !== null && row.lease_until > nowUs)
    const sum = (pick: (row: CursorColumns) => number, rows = cursors): number =>
      rows.reduce((all, row) => all + pick(row), 0)
    const consumedAt = cursors.flatMap((row) => row.consumed_at ?? [])
    return partitionRow({
      ...partition,
      total,
      pending,
      processing: sum((row) => row.lease_left, live),
      failed: sum((row) => row.failed),
      dead: this.#sql.dead.one(partition.uuid)?.n ?? 0,
      oldest: this.oldestAfter(partition, 0),
      newest: this.#sql.last.one(partition.id, partition.head)?.created_at ?? null,
      consumed: sum((row) => row.consumed),
      batches: sum((row) => row.batches),
      consumed_at: consumedAt.length === 0 ? null : Math.max(...consumedAt),
    })
  }

  /** The cursor of the consumers without a group, else the lowest of the groups. Queue API 9. */
  #furthestBehind(cursors: readonly CursorColumns[]): number | null {
    const queueMode = cursors.find((row) => row.group_name === QUEUE_MODE)
    if (queueMode !== undefined) return queueMode.position
    return cursors.length === 0 ? null : Math.min(...cursors.map((row) => row.position))
  }
}
