import type { Tx } from '../../../../storage/index.ts'
import { lockPartitions } from '../admin/locks.ts'
import { quiet } from '../handler.ts'
import type { JobStep } from './step.ts'

/** Partitions that one step takes together. */
const PAGE = 500

/** Takes away rows that nobody sees any more, a few at a time; answers how many, 0 = nothing is left. */
type Task = (tx: Tx, limit: number, nowUs: number) => Promise<number>

/** Runs a statement that ends with the number of rows it took. */
async function count(
  tx: Tx,
  name: string,
  sql: string,
  values: readonly unknown[],
): Promise<number> {
  const [row] = await tx.rows<{ n: number }>(name, sql, values)
  return row?.n ?? 0
}

/** Messages of these partitions below a bound of each, in order, up to a limit. ($1 partitions, $2 bounds, $3 limit) */
const MESSAGES = `
  WITH gone AS (
    DELETE FROM hivegate.message m USING (
      SELECT m.partition_id, m.position
      FROM unnest($1::bigint[], $2::bigint[]) p (id, bound)
      CROSS JOIN LATERAL (
        SELECT m.partition_id, m.position FROM hivegate.message m
        WHERE m.partition_id = p.id AND m.position < p.bound ORDER BY m.position LIMIT $3) m
      LIMIT $3) old
    WHERE m.partition_id = old.partition_id AND m.position = old.position RETURNING 1)
  SELECT count(*) AS n FROM gone`

const ALL = Number.MAX_SAFE_INTEGER

const PARTITIONS = `
  WITH gone AS (DELETE FROM hivegate.partition WHERE id = ANY ($1::bigint[]) RETURNING 1),
  cursors AS (DELETE FROM hivegate.cursor WHERE partition_id = ANY ($1::bigint[])),
  ghosts AS (DELETE FROM hivegate.ghost WHERE partition_id = ANY ($1::bigint[])),
  cleared AS (DELETE FROM hivegate.cleared_partition WHERE partition_id = ANY ($1::bigint[]))
  SELECT count(*) AS n FROM gone`

const DEAD_LETTERS = `
  WITH gone AS (DELETE FROM hivegate.dead_letter
    WHERE id IN (SELECT id FROM hivegate.dead_letter WHERE queue_id = $1 LIMIT $2) RETURNING 1)
  SELECT count(*) AS n FROM gone`

const QUEUE = `
  WITH gone AS (DELETE FROM hivegate.queue WHERE id = $1 RETURNING 1),
  totals AS (DELETE FROM hivegate.queue_total WHERE queue_id = $1),
  dropped AS (DELETE FROM hivegate.dropped_subscription WHERE queue_id = $1)
  SELECT count(*) AS n FROM gone`

/** A deleted queue: its partitions page by page, then the dead letters, then the row. */
const deletedQueues: Task = async (tx, limit) => {
  const [queue] = await tx.rows<{ id: number }>(
    'purge_queue',
    'SELECT id FROM hivegate.queue WHERE deleted ORDER BY id LIMIT 1 FOR UPDATE',
  )
  if (queue === undefined) return 0
  // A push that found the queue before it went must have ended, or its messages would stay for ever.
  const page = await tx.rows<{ id: number }>(
    'purge_partitions',
    `SELECT id FROM hivegate.partition WHERE queue_id = $1 ORDER BY id LIMIT ${PAGE} FOR UPDATE`,
    [queue.id],
  )
  if (page.length === 0) {
    const letters = await count(tx, 'purge_letters', DEAD_LETTERS, [queue.id, limit])
    return letters === limit ? letters : letters + (await count(tx, 'purge_end', QUEUE, [queue.id]))
  }
  const ids = page.map(({ id }) => id)
  const removed = await count(tx, 'purge_messages', MESSAGES, [ids, ids.map(() => ALL), limit])
  if (removed === limit) return removed
  return removed + (await count(tx, 'purge_gone', PARTITIONS, [ids]))
}

/** Partitions that were cleared: messages below the head. Of those that are gone, all messages. */
const clearedPartitions: Task = async (tx, limit) => {
  const work = await tx.rows<{ id: number }>(
    'purge_cleared',
    `SELECT partition_id AS id FROM hivegate.cleared_partition ORDER BY partition_id LIMIT ${PAGE}`,
  )
  if (work.length === 0) return 0
  const ids = work.map(({ id }) => id)
  // Another clear of the same partition must not come between the head and the end of this work.
  await lockPartitions(tx, ids)
  const heads = await tx.rows<{ head: number }>(
    'purge_heads',
    `SELECT coalesce(p.head, ${ALL}) AS head
     FROM unnest($1::bigint[]) WITH ORDINALITY c (id, at)
     LEFT JOIN hivegate.partition p ON p.id = c.id ORDER BY c.at`,
    [ids],
  )
  const bounds = heads.map(({ head }) => head)
  const removed = await count(tx, 'purge_messages', MESSAGES, [ids, bounds, limit])
  if (removed === limit) return removed
  await tx.rows(
    'purge_settle',
    'DELETE FROM hivegate.cleared_partition WHERE partition_id = ANY ($1::bigint[])',
    [ids],
  )
  return removed + ids.length
}

const ORPHAN_CURSORS = `
  WITH gone AS (
    DELETE FROM hivegate.cursor c USING (
      SELECT partition_id FROM hivegate.cursor
      WHERE subscription_id = $1 AND partition_id = ANY ($2::bigint[])
      ORDER BY partition_id FOR UPDATE) old
    WHERE c.partition_id = old.partition_id AND c.subscription_id = $1 RETURNING 1)
  SELECT count(*) AS n FROM gone`

const ORPHAN_END = `
  WITH gone AS (DELETE FROM hivegate.dropped_subscription WHERE subscription_id = $1)
  DELETE FROM hivegate.subscription_total WHERE subscription_id = $1`

/** Cursors of groups that were deleted. */
const droppedSubscriptions: Task = async (tx) => {
  const [orphan] = await tx.rows<{ id: number; queue_id: number; done_to: number }>(
    'purge_orphan',
    `SELECT subscription_id AS id, queue_id, done_to FROM hivegate.dropped_subscription
     ORDER BY subscription_id LIMIT 1 FOR UPDATE`,
  )
  if (orphan === undefined) return 0
  const page = await tx.rows<{ id: number }>(
    'purge_orphan_page',
    `SELECT id FROM hivegate.partition WHERE queue_id = $1 AND id > $2 ORDER BY id LIMIT ${PAGE}`,
    [orphan.queue_id, orphan.done_to],
  )
  const ids = page.map(({ id }) => id)
  await count(tx, 'purge_orphans', ORPHAN_CURSORS, [orphan.id, ids])
  if (ids.length < PAGE) {
    await tx.rows('purge_orphan_end', ORPHAN_END, [orphan.id])
  } else {
    await tx.rows(
      'purge_orphan_next',
      'UPDATE hivegate.dropped_subscription SET done_to = $2 WHERE subscription_id = $1',
      [orphan.id, ids.at(-1)],
    )
  }
  return page.length + 1
}

const EXPIRED = `
  WITH gone AS (DELETE FROM hivegate.ghost WHERE (partition_id, transaction_id) IN (
    SELECT partition_id, transaction_id FROM hivegate.ghost WHERE expires_at < $1 LIMIT $2) RETURNING 1)
  SELECT count(*) AS n FROM gone`

/** Transaction ids whose duplicate window has ended. */
const expiredGhosts: Task = (tx, limit, nowUs) => count(tx, 'purge_ghosts', EXPIRED, [nowUs, limit])

const TASKS: readonly Task[] = [
  deletedQueues,
  clearedPartitions,
  droppedSubscriptions,
  expiredGhosts,
]

/** Does a piece of the first task that has work; the token only says that there may be more. */
export const purge: JobStep = async (tx, { limit, nowUs }) => {
  for (const task of TASKS) {
    const deleted = await task(tx, limit, nowUs)
    if (deleted > 0) return quiet({ deleted, next: 0 })
  }
  return quiet({ deleted: 0, next: null })
}
