import { QUEUE_MODE } from '../../../model.ts'
import type { MessageStatus } from '../../../store.ts'
import { CONSUMES } from './consumers.ts'

/** The message `m` of the partition `b` has a dead letter. */
export const IS_DEAD = `EXISTS (SELECT 1 FROM hivegate.dead_letter d
  WHERE d.partition_uuid = b.uuid AND d.transaction_id = m.transaction_id AND d.message_id = m.id)`

/**
 * Joins the stored messages `m` of `b` from `low` to `high` that have dead letters, once for each of those. LIMIT
 * keeps the look-ups apart: joined as a whole, all messages might be read.
 */
export const WITH_DEAD = `JOIN hivegate.dead_letter d ON d.partition_uuid = b.uuid
  JOIN LATERAL (SELECT m.position FROM hivegate.message m
    WHERE m.partition_id = b.id AND m.transaction_id = d.transaction_id AND m.id = d.message_id
    LIMIT 1) m ON m.position BETWEEN b.low AND b.high`

/**
 * How far each partition `b` counts as completed, and its positions in live leases: the rule of `completedUpTo`
 * and `inLease` (message-status.ts) for many partitions at once. `$1` = now.
 */
const VIEWS = `SELECT b.id,
    coalesce(max(v.position) FILTER (WHERE v.group_name = '${QUEUE_MODE}'), min(v.position), 0)
      AS done,
    coalesce(range_agg(int8range(v.position + 1, v.lease_end + 1))
      FILTER (WHERE v.lease_end > v.position), '{}') AS leased
  FROM bound b LEFT JOIN LATERAL (
    SELECT s.group_name, coalesce(c.position, hivegate.start_position(s, b.part)) AS position,
      CASE WHEN c.lease_until > $1 THEN c.lease_end END AS lease_end
    FROM hivegate.subscription s
    LEFT JOIN hivegate.cursor c ON c.partition_id = b.id AND c.subscription_id = s.id
    WHERE s.queue_id = b.queue_id AND ${CONSUMES}) v ON true
  WHERE b.low <= b.high GROUP BY b.id`

/** Positions of `b` behind what is completed. */
const REST = `int8multirange(int8range(
  least(greatest(b.low, v.done + 1), b.high + 1), b.high + 1))`

/** The positions of `b` with a status, dead letters among them. */
const WANTED: Readonly<Record<Exclude<MessageStatus, 'dead_letter'>, string>> = {
  completed: 'int8multirange(int8range(b.low, greatest(b.low, least(b.high, v.done) + 1)))',
  processing: `${REST} * v.leased`,
  pending: `${REST} - v.leased`,
}

const COLUMNS = 'b.id, b.uuid, b.name, b.queue, b.namespace, b.task, b.priority, b.holes'

/**
 * Cuts the positions of each `bound` into the runs that have a status. Those of another status than
 * `dead_letter` hold dead letters too, which are to be left out.
 */
export function runsSql(status: MessageStatus | null): string {
  if (status === null) return `SELECT ${COLUMNS}, b.low, b.high FROM bound b WHERE b.low <= b.high`
  if (status === 'dead_letter') {
    return `SELECT DISTINCT ON (b.id, m.position) ${COLUMNS}, m.position AS low, m.position AS high
      FROM bound b ${WITH_DEAD}`
  }
  return `SELECT ${COLUMNS}, lower(r) AS low, upper(r) - 1 AS high
    FROM bound b JOIN (${VIEWS}) v ON v.id = b.id CROSS JOIN unnest(${WANTED[status]}) r`
}
