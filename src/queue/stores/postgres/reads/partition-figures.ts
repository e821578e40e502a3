import type { Statements } from '../../../../storage/index.ts'
import { QUEUE_MODE } from '../../../model.ts'
import type { PartitionRow } from '../../../store.ts'
import { type PartitionFigures, partitionRow } from '../../partition-rows.ts'

/**
 * Stored messages of the partition `p` above a position: the lag of a cursor that stands there. Arithmetic
 * unless some were removed from the middle.
 */
export function lagSql(position: string): string {
  const from = `greatest(${position}, p.head - 1)`
  return `CASE WHEN p.next - 1 <= ${from} THEN 0
    WHEN p.holes = 0 THEN p.next - 1 - ${from}
    ELSE (SELECT count(*) FROM hivegate.message m
      WHERE m.partition_id = p.id AND m.position > ${from}) END`
}

/** When the first message of `p` above a position was made: a value, or a table of no more than one row. */
export function oldestAfterSql(position: string): string {
  return `(SELECT m.created_at FROM hivegate.message m
    WHERE m.partition_id = p.id AND m.position >= greatest(${position} + 1, p.head)
    ORDER BY m.position LIMIT 1)`
}

/** The view that is furthest behind: the cursor without a group, else the lowest one. Queue API 9. */
const CURSORS = `SELECT
    coalesce(max(c.position) FILTER (WHERE s.group_name = '${QUEUE_MODE}'), min(c.position)) AS view,
    coalesce(sum(c.lease_left) FILTER (WHERE c.lease_until > $1), 0) AS processing,
    coalesce(sum(c.failed), 0) AS failed, coalesce(sum(c.consumed), 0) AS consumed,
    coalesce(sum(c.batches), 0) AS batches, max(c.consumed_at) AS consumed_at
  FROM hivegate.cursor c JOIN hivegate.subscription s ON s.id = c.subscription_id
  WHERE c.partition_id = p.id`

function figuresOf(where: string): string {
  return `SELECT p.uuid, p.name, p.queue, p.created_at,
      ${lagSql('0')} AS total, ${lagSql('coalesce(c.view, 0)')} AS pending,
      c.processing, c.failed, c.consumed, c.batches, c.consumed_at,
      (SELECT count(*) FROM hivegate.dead_letter d WHERE d.partition_uuid = p.uuid) AS dead,
      ${oldestAfterSql('0')} AS oldest,
      (SELECT m.created_at FROM hivegate.message m
        WHERE m.partition_id = p.id AND m.position >= p.head
        ORDER BY m.position DESC LIMIT 1) AS newest
    FROM (SELECT p.*, q.name AS queue
      FROM hivegate.partition p JOIN hivegate.queue q ON q.id = p.queue_id AND NOT q.deleted
      WHERE ${where} ORDER BY p.id LIMIT $2 OFFSET $3) p
    CROSS JOIN LATERAL (${CURSORS}) c ORDER BY p.id`
}

/** Which partitions are wanted, in the order of their making. */
export interface PartitionPage {
  /** null = of all queues. */
  readonly queueId: number | null
  /** null = all. */
  readonly limit: number | null
  readonly offset: number
  readonly nowUs: number
}

/** Reads partitions with what listings show of them; a handful of index seeks each. */
export async function listPartitions(
  db: Statements,
  { queueId, limit, offset, nowUs }: PartitionPage,
): Promise<readonly PartitionRow[]> {
  const rows =
    queueId === null
      ? await db.rows<PartitionFigures>('partitions_all', figuresOf('true'), [nowUs, limit, offset])
      : await db.rows<PartitionFigures>('partitions_of', figuresOf('p.queue_id = $4'), [
          nowUs,
          limit,
          offset,
          queueId,
        ])
  return rows.map(partitionRow)
}
