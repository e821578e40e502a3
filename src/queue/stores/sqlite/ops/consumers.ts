import type { DatabaseSync } from 'node:sqlite'
import type { Consumer } from '../../message-views.ts'
import { query } from '../rows.ts'
import { firstMadeFrom, type PartitionHead } from './partition-heads.ts'

interface ConsumerColumns {
  group_name: string
  mode: string | null
  start_at: number | null
  born_after: number
  position: number | null
  lease_until: number | null
  lease_end: number | null
  retry_count: number | null
}

/** Reads who consumes a partition. A group registered on the queue counts before its first delivery too. */
export function consumerReader(db: DatabaseSync) {
  const ofPartition = query<ConsumerColumns>(
    db,
    `SELECT s.group_name, s.mode, s.start_at, s.born_after,
       c.position, c.lease_until, c.lease_end, c.retry_count
     FROM subscription s
     LEFT JOIN cursor c ON c.subscription_id = s.id AND c.partition_id = ?
     WHERE s.queue_id = ? AND (s.mode IS NOT NULL OR s.members > 0)
     ORDER BY s.group_name`,
  )
  const first = firstMadeFrom(db)

  /** Where a group without a cursor will begin: the rule of its registration. Queue API 7.1. */
  function startOf(row: ConsumerColumns, partition: PartitionHead): number {
    const everything = row.mode === null || row.mode === 'all' || row.start_at === null
    const young = row.mode === 'new' && partition.id > row.born_after
    return everything || young ? partition.head - 1 : first(partition, row.start_at ?? 0) - 1
  }

  return (partition: PartitionHead, nowUs: number): readonly Consumer[] =>
    ofPartition.all(partition.id, partition.queueId).map((row) => {
      const leased = row.lease_until !== null && row.lease_until > nowUs
      return {
        group: row.group_name,
        position: row.position ?? startOf(row, partition),
        leaseEnd: leased ? row.lease_end : null,
        leaseUntilUs: leased ? row.lease_until : null,
        retryCount: row.retry_count ?? 0,
      }
    })
}

/** Reads the consumers of one partition as they are at `nowUs`. */
export type ConsumerReader = ReturnType<typeof consumerReader>
