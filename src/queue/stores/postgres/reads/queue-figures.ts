import type { Statements } from '../../../../storage/index.ts'
import { QUEUE_MODE } from '../../../model.ts'
import { ALL_QUEUES, type QueueFilter } from '../../figures.ts'
import type { LiveQueue } from '../../overview-rows.ts'
import { conditions } from './conditions.ts'

/** Which queues are wanted; null matches all. */
export interface NamedFilter extends QueueFilter {
  /** The whole name. */
  readonly queue: string | null
}

/** Every live queue. */
export const ALL_NAMES: NamedFilter = { ...ALL_QUEUES, queue: null }

/** Sums of the running totals of the queue `q`. */
export const QUEUE_SUMS = `CROSS JOIN LATERAL (
    SELECT coalesce(sum(x.partitions), 0) AS partitions, coalesce(sum(x.pushed), 0) AS pushed,
      coalesce(sum(x.stored), 0) AS stored, coalesce(sum(x.dead), 0) AS dead
    FROM hivegate.queue_total x WHERE x.queue_id = q.id) t`

/** Sums of the running totals of the subscription `s`. */
export const SUBSCRIPTION_SUMS = `CROSS JOIN LATERAL (
    SELECT coalesce(sum(x.passed), 0) AS passed, coalesce(sum(x.members), 0) AS members,
      coalesce(sum(x.consumed), 0) AS consumed, coalesce(sum(x.failed), 0) AS failed
    FROM hivegate.subscription_total x WHERE x.subscription_id = s.id) u`

/** Messages in live leases by queue; `?` = now. The index holds nothing but cursors with a lease. */
const LEASED = `SELECT s.queue_id, sum(c.lease_left) AS n
  FROM hivegate.cursor c JOIN hivegate.subscription s ON s.id = c.subscription_id
  WHERE c.lease_id IS NOT NULL AND c.lease_until > $1 GROUP BY s.queue_id`

/** The figures of the queues that `page` selects, from running totals alone. */
function figuresOf(page: string): string {
  return `SELECT q.id, q.uuid, q.name, q.namespace, q.task, q.priority, q.created_at,
      t.partitions, t.pushed, t.stored, t.dead, coalesce(l.n, 0) AS processing,
      t.stored - g.queue_passed AS queue_lag, t.stored - g.least_passed AS group_lag,
      g.consumed, g.failed
    FROM (${page}) q ${QUEUE_SUMS}
    CROSS JOIN LATERAL (
      SELECT max(u.passed) FILTER (WHERE s.group_name = '${QUEUE_MODE}') AS queue_passed,
        min(u.passed) AS least_passed, coalesce(sum(u.consumed), 0) AS consumed,
        coalesce(sum(u.failed), 0) AS failed
      FROM hivegate.subscription s ${SUBSCRIPTION_SUMS} WHERE s.queue_name = q.name) g
    LEFT JOIN (${LEASED}) l ON l.queue_id = q.id
    ORDER BY q.created_at DESC, q.id DESC`
}

function matching(filter: NamedFilter, before: number) {
  return conditions(
    [
      ['q.name = ?', filter.queue],
      ['q.namespace = ?', filter.namespace],
      ['q.task = ?', filter.task],
      ['strpos(q.name, ?) > 0', filter.search],
    ],
    before,
  )
}

/** Reads queues with what listings show of them, the newest first. */
export function listQueues(
  db: Statements,
  filter: NamedFilter,
  nowUs: number,
): Promise<LiveQueue[]> {
  const where = matching(filter, 3)
  return db.rows<LiveQueue>(
    `queues_${where.key}`,
    figuresOf(`SELECT q.* FROM hivegate.queue q WHERE NOT q.deleted AND ${where.sql}
      ORDER BY q.created_at DESC, q.id DESC LIMIT $2 OFFSET $3`),
    [nowUs, filter.limit, filter.offset, ...where.values],
  )
}

/** How many queues match. */
export async function countQueues(db: Statements, filter: NamedFilter): Promise<number> {
  const where = matching(filter, 0)
  const [row] = await db.rows<{ n: number }>(
    `queue_count_${where.key}`,
    `SELECT count(*) AS n FROM hivegate.queue q WHERE NOT q.deleted AND ${where.sql}`,
    where.values,
  )
  return row?.n ?? 0
}
