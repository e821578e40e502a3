import type { DatabaseSync } from 'node:sqlite'
import { query } from '../rows.ts'

/** A partition of a live queue with what its messages share in an answer. */
export interface PartitionHead {
  readonly id: number
  readonly uuid: string
  readonly name: string
  readonly queueId: number
  readonly queue: string
  readonly namespace: string
  readonly task: string
  readonly priority: number
  /** Lowest position that may hold a message. */
  readonly head: number
  /** Removed messages above the head. */
  readonly holes: number
}

interface HeadColumns {
  id: number
  uuid: string
  name: string
  queue_id: number
  queue: string
  namespace: string
  task: string
  priority: number
  head: number
  holes: number
}

const SELECT = `SELECT p.id, p.uuid, p.name, p.queue_id, p.head, p.holes,
    q.name AS queue, q.namespace, q.task, q.priority
  FROM partition p JOIN queue q ON q.id = p.queue_id
  WHERE q.deleted = 0`

function headOf(row: HeadColumns): PartitionHead {
  const { queue_id: queueId, ...rest } = row
  return { ...rest, queueId }
}

/** Which partitions are wanted; null matches all. */
export interface HeadFilter {
  readonly queue: string | null
  readonly partition: string | null
  readonly namespace: string | null
  readonly task: string | null
}

/** Reads partitions by their id or by the labels of their queue. */
export function partitionHeads(db: DatabaseSync) {
  const byUuid = query<HeadColumns>(db, `${SELECT} AND p.uuid = ?`)
  const matching = query<HeadColumns>(
    db,
    `${SELECT} AND (?1 IS NULL OR q.name = ?1) AND (?2 IS NULL OR p.name = ?2)
       AND (?3 IS NULL OR q.namespace = ?3) AND (?4 IS NULL OR q.task = ?4)`,
  )
  return {
    /** Undefined for text that is no partition of a live queue. */
    byUuid(uuid: string): PartitionHead | undefined {
      const row = byUuid.one(uuid)
      return row === undefined ? undefined : headOf(row)
    },
    matching: ({ queue, partition, namespace, task }: HeadFilter): readonly PartitionHead[] =>
      matching.all(queue, partition, namespace, task).map(headOf),
  }
}

/**
 * Finds the first position of a partition whose message was made at or after a moment, or the position
 * behind the last one. Times never fall inside a partition, so halving finds it without an index on time.
 */
export function firstMadeFrom(db: DatabaseSync) {
  const newest = query<{ position: number }>(
    db,
    'SELECT position FROM message WHERE partition_id = ? ORDER BY position DESC LIMIT 1',
  )
  const from = query<{ position: number; created_at: number }>(
    db,
    `SELECT position, created_at FROM message WHERE partition_id = ? AND position >= ?
     ORDER BY position LIMIT 1`,
  )
  return (partition: Pick<PartitionHead, 'id' | 'head'>, us: number): number => {
    let low = partition.head
    let high = Math.max(low, (newest.one(partition.id)?.position ?? 0) + 1)
    while (low < high) {
      const middle = Math.floor((low + high) / 2)
      const row = from.one(partition.id, middle)
      if (row === undefined || row.created_at >= us) high = middle
      else low = row.position + 1
    }
    return low
  }
}
