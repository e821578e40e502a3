import type { Statements } from '../../../../storage/index.ts'
import { DEFAULT_OPTIONS, type QueueOptions } from '../../../model.ts'
import type { Reads } from '../../../store.ts'
import { oldestAfterSql } from '../reads/partition-figures.ts'
import { QUEUE_SUMS } from '../reads/queue-figures.ts'

/** Partitions of one queue whose oldest message is looked at; beyond it the age is that of a sample. */
const MAX_AGED_PARTITIONS = 10_000

/** The options of a queue; null when there is none of that name. */
export async function readQueueOptions(
  db: Statements,
  { queue }: Reads['queueOptions']['args'],
): Promise<QueueOptions | null> {
  const [row] = await db.rows<{ options: Partial<QueueOptions> }>(
    'queue_options',
    'SELECT options FROM hivegate.queue WHERE name = $1 AND NOT deleted',
    [queue],
  )
  return row === undefined ? null : { ...DEFAULT_OPTIONS, ...row.options }
}

const OLDEST = `SELECT q.name, (SELECT min(o.made) FROM (
    SELECT ${oldestAfterSql('0')} AS made FROM hivegate.partition p
    WHERE p.queue_id = q.id ORDER BY p.id LIMIT ${MAX_AGED_PARTITIONS}) o) AS oldest
  FROM hivegate.queue q ${QUEUE_SUMS}
  WHERE NOT q.deleted AND t.stored > 0
    AND NOT EXISTS (SELECT 1 FROM hivegate.subscription s WHERE s.queue_id = q.id)`

/** When the oldest message of each queue that nobody consumes was made, in µs. */
export async function readOldestUnread(db: Statements): Promise<ReadonlyMap<string, number>> {
  const rows = await db.rows<{ name: string; oldest: number | null }>('oldest_unread', OLDEST)
  return new Map(rows.map((row) => [row.name, row.oldest ?? 0]))
}

/** Partitions of every queue by its name. */
export async function readPartitionCounts(db: Statements): Promise<ReadonlyMap<string, number>> {
  const rows = await db.rows<{ name: string; partitions: number }>(
    'partition_counts',
    `SELECT q.name, t.partitions FROM hivegate.queue q ${QUEUE_SUMS} WHERE NOT q.deleted`,
  )
  return new Map(rows.map((row) => [row.name, row.partitions]))
}
