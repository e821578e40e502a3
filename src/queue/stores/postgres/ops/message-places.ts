import type { MessageFilter } from '../../../store.ts'
import { type Conditions, conditions } from '../reads/conditions.ts'
import { IS_DEAD, runsSql, WITH_DEAD } from './message-runs.ts'

/**
 * The partitions that match, each with the positions whose message was made in the span of the filter; `part` is
 * the partition's row as functions want it.
 */
function boundsSql({ fromUs, toUs }: MessageFilter, where: Conditions, next: number): string {
  const from = `$${next}::bigint`
  const to = `$${next + (fromUs === null ? 0 : 1)}::bigint`
  const low = fromUs === null ? 'p.head' : `hivegate.first_made_from(p, ${from})`
  const high = toUs === null ? 'p.next' : `hivegate.first_made_from(p, ${to} + 1)`
  return `SELECT p.id, p.uuid, p.name, p.queue_id, p.holes, p AS part, q.name AS queue, q.namespace,
      q.task, q.priority, ${low} AS low, ${high} - 1 AS high
    FROM hivegate.partition p JOIN hivegate.queue q ON q.id = p.queue_id AND NOT q.deleted
    WHERE ${where.sql} AND p.head < p.next ${fromUs === null ? '' : `AND p.stamp >= ${from}`}`
}

const COLUMNS = `b.id AS partition_id, b.uuid, b.name, b.queue, b.namespace, b.task, b.priority,
  m.position, m.id, m.transaction_id, m.trace_id, m.producer_sub, m.created_at, m.encrypted,
  m.payload`
const IN_RUN = 'm.partition_id = b.id AND m.position BETWEEN b.low AND b.high'
/** No page reaches further down than this many of the newest. */
const REACH = '$2::bigint + $3::bigint'

/** A statement and its values. */
export interface PlacesQuery {
  readonly name: string
  readonly sql: string
  readonly values: readonly unknown[]
}

/**
 * One page of messages, newest first, each with `total`, the number of all that match; a row without an id when
 * the page is empty. Bounds in time become bounds in position by halving, and a status becomes runs of positions,
 * so that only the messages of the page are read, however many are stored.
 */
export function placesQuery(filter: MessageFilter): PlacesQuery {
  const where = conditions(
    [
      ['q.name = ?', filter.queue],
      ['p.name = ?', filter.partition],
      ['q.namespace = ?', filter.namespace],
      ['q.task = ?', filter.task],
    ],
    3,
  )
  const { status, fromUs, toUs, limit, offset, nowUs } = filter
  const span = [fromUs, toUs].map((us) => (us === null ? '0' : '1')).join('')
  const apart = status !== null && status !== 'dead_letter'
  const living = apart ? `AND NOT ${IS_DEAD}` : ''
  const dead = `(SELECT count(DISTINCT (b.id, m.position)) FROM run b ${WITH_DEAD})`
  return {
    name: `messages_${where.key}${span}_${status ?? 'all'}`,
    values: [nowUs, limit, offset, ...where.values, ...[fromUs, toUs].filter((us) => us !== null)],
    // Only the runs with the newest messages can reach the page, no more of them than it has places. `$1` is
    // not needed for every filter, and has to be of some type.
    sql: `WITH bound AS MATERIALIZED (${boundsSql(filter, where, 4 + where.values.length)}),
      run AS MATERIALIZED (${runsSql(status)}),
      newest AS (
        SELECT b.*, n.made, n.message_id FROM run b CROSS JOIN LATERAL (
          SELECT m.created_at AS made, m.id AS message_id FROM hivegate.message m
          WHERE ${IN_RUN} ${living} ORDER BY m.position DESC LIMIT 1) n
        ORDER BY n.made DESC, n.message_id DESC LIMIT ${REACH}),
      place AS (
        SELECT b.*, m.position FROM newest b CROSS JOIN LATERAL (
          SELECT m.position, m.created_at, m.id FROM hivegate.message m
          WHERE ${IN_RUN} ${living} ORDER BY m.position DESC LIMIT ${REACH}) m
        ORDER BY m.created_at DESC, m.id DESC LIMIT $2 OFFSET $3),
      page AS (
        SELECT ${COLUMNS}, ${IS_DEAD} AS dead FROM place b
        CROSS JOIN LATERAL (SELECT * FROM hivegate.message m
          WHERE m.partition_id = b.id AND m.position = b.position LIMIT 1) m),
      total AS (
        SELECT coalesce(sum(CASE WHEN b.holes = 0 THEN b.high - b.low + 1
          ELSE (SELECT count(*) FROM hivegate.message m WHERE ${IN_RUN}) END), 0)
          - ${apart ? dead : '0'} AS total
        FROM run b)
      SELECT total.total, page.* FROM total LEFT JOIN page ON $1::bigint IS NOT NULL
      ORDER BY page.created_at DESC, page.id DESC`,
  }
}
