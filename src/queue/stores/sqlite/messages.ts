import type { DatabaseSync } from 'node:sqlite'
import { change, query } from './rows.ts'
import type { MessageRow, PartitionState } from './state.ts'

const COLUMNS =
  'position, id, transaction_id, trace_id, producer_sub, created_at, encrypted, payload'

/** Statements on `message`. Positions below a partition's head are gone, whatever the table holds. */
export function messageTable(db: DatabaseSync) {
  const byTransaction = query<{ position: number }>(
    db,
    `SELECT position FROM message INDEXED BY message_transaction
     WHERE partition_id = ? AND transaction_id = ? AND position >= ?`,
  )
  const atOrAfter = query<{ position: number; created_at: number }>(
    db,
    `SELECT position, created_at FROM message WHERE partition_id = ? AND position >= ?
     ORDER BY position LIMIT 1`,
  )
  const atOrBefore = query<{ position: number; id: string; created_at: number }>(
    db,
    `SELECT position, id, created_at FROM message WHERE partition_id = ? AND position <= ?
     ORDER BY position DESC LIMIT 1`,
  )
  const between = query<{ n: number }>(
    db,
    'SELECT count(*) AS n FROM message WHERE partition_id = ? AND position > ? AND position <= ?',
  )
  const slice = query<MessageRow>(
    db,
    // With a bare parameter as its limit SQLite would plan the statement anew for each value bound to it.
    `SELECT ${COLUMNS} FROM message WHERE partition_id = ? AND position > ?
     ORDER BY position LIMIT +?`,
  )
  const single = query<MessageRow>(
    db,
    `SELECT ${COLUMNS} FROM message WHERE partition_id = ? AND position = ?`,
  )
  return {
    insert: change(
      db,
      `INSERT INTO message (partition_id, ${COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    ),

    /** All stored positions of a transaction id; more than one only past the duplicate window. */
    positionsOf: (partition: PartitionState, transactionId: string): readonly number[] =>
      byTransaction
        .all(partition.id, transactionId, partition.head)
        .map(({ position }) => position),

    /** The first stored message at or after a position. */
    firstFrom: (partition: PartitionState, position: number) =>
      atOrAfter.one(partition.id, Math.max(position, partition.head)),

    /** The last stored message at or before a position. */
    lastUpTo(partition: PartitionState, position: number) {
      const row = atOrBefore.one(partition.id, position)
      return row !== undefined && row.position >= partition.head ? row : undefined
    },

    /** Stored messages above `after`, up to and with `upTo`: arithmetic unless some were removed. */
    count(partition: PartitionState, after: number, upTo: number): number {
      const from = Math.max(after, partition.head - 1)
      const to = Math.min(upTo, partition.next - 1)
      if (to <= from) return 0
      if (partition.holes === 0) return to - from
      return between.one(partition.id, from, to)?.n ?? 0
    },

    /** The next `limit` messages above a position. */
    after: (partition: PartitionState, position: number, limit: number) =>
      slice.all(partition.id, Math.max(position, partition.head - 1), limit),

    at: (partition: PartitionState, position: number): MessageRow | undefined =>
      position < partition.head ? undefined : single.one(partition.id, position),

    /**
     * Position of the first message made at or after a moment, or `next` when there is none. Times never
     * fall inside a partition, so that halving the range finds it without an index on time.
     */
    firstMadeFrom(partition: PartitionState, us: number): number {
      if (partition.stampUs < us) return partition.next
      let low = partition.head
      let high = partition.next
      while (low < high) {
        const middle = Math.floor((low + high) / 2)
        const row = atOrAfter.one(partition.id, middle)
        if (row === undefined || row.created_at >= us) high = middle
        else low = row.position + 1
      }
      return low
    },
  }
}

export type MessageTable = ReturnType<typeof messageTable>
