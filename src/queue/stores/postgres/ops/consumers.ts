import type { Statements } from '../../../../storage/index.ts'
import type { Consumer } from '../../message-views.ts'

/** Groups `s` that a pop has registered or that have begun; others do not consume yet. */
export const CONSUMES = `(s.mode IS NOT NULL OR (SELECT sum(x.members)
  FROM hivegate.subscription_total x WHERE x.subscription_id = s.id) > 0)`

interface Columns {
  readonly partition_id: number
  readonly group_name: string
  readonly position: number
  readonly lease_end: number | null
  readonly lease_until: number | null
  readonly retry_count: number
}

const CONSUMERS = `SELECT p.id AS partition_id, s.group_name, coalesce(c.position, hivegate.start_position(s, p)) AS position,
    CASE WHEN c.lease_until > $2 THEN c.lease_end END AS lease_end,
    CASE WHEN c.lease_until > $2 THEN c.lease_until END AS lease_until,
    coalesce(c.retry_count, 0) AS retry_count
  FROM hivegate.partition p
  JOIN hivegate.subscription s ON s.queue_id = p.queue_id AND ${CONSUMES}
  LEFT JOIN hivegate.cursor c ON c.partition_id = p.id AND c.subscription_id = s.id
  WHERE p.id = ANY($1::bigint[]) ORDER BY s.group_name`

/**
 * Who consumes some partitions, as it is at `nowUs`; by the id of the partition. A group without a cursor stands where the
 * rule of its registration will let it begin.
 */
export async function consumersOf(
  db: Statements,
  partitionIds: readonly number[],
  nowUs: number,
): Promise<ReadonlyMap<number, readonly Consumer[]>> {
  const rows = await db.rows<Columns>('consumers', CONSUMERS, [partitionIds, nowUs])
  const found = new Map<number, Consumer[]>()
  for (const row of rows) {
    const consumers = found.get(row.partition_id) ?? []
    found.set(row.partition_id, consumers)
    consumers.push({
      group: row.group_name,
      position: row.position,
      leaseEnd: row.lease_end,
      leaseUntilUs: row.lease_until,
      retryCount: row.retry_count,
    })
  }
  return found
}
