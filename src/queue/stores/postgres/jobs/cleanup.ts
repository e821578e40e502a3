import { Effects } from '../admin/effects.ts'
import { enterAlone, findQueues, lockCursors } from '../admin/locks.ts'
import { addQueueTotals, addSubscriptionTotals } from '../admin/totals.ts'
import type { JobStep } from './step.ts'

/** Partitions that one step looks at: a few ms. */
const PAGE = 1000

/** Partition `p` is empty, was not touched since `$1`, and nobody holds a lease on it at `$2`. */
const IDLE = `
  p.created_at < $1 AND p.stamp < $1
  AND NOT EXISTS (SELECT FROM hivegate.message m
    WHERE m.partition_id = p.id AND m.position >= p.head)
  AND NOT EXISTS (SELECT FROM hivegate.cursor c WHERE c.partition_id = p.id
    AND (c.consumed_at >= $1 OR (c.lease_id IS NOT NULL AND c.lease_until > $2
      AND EXISTS (SELECT FROM hivegate.subscription s WHERE s.id = c.subscription_id))))`

/** ($1 idle since, $2 now, $3 after) */
const CANDIDATES = `
  WITH page AS MATERIALIZED (
    SELECT id FROM hivegate.partition WHERE id > $3 ORDER BY id LIMIT ${PAGE}),
  idle AS (
    SELECT p.id, p.queue_id FROM page JOIN hivegate.partition p USING (id)
    JOIN hivegate.queue q ON q.id = p.queue_id AND NOT q.deleted WHERE ${IDLE})
  SELECT coalesce(array_agg(id), '{}') AS ids, coalesce(array_agg(DISTINCT queue_id), '{}') AS queues,
    (SELECT count(*) FROM page) AS looked_at, (SELECT max(id) FROM page) AS last
  FROM idle`

/** Busy ones are left for another round. ($1 ids) */
const LOCK_IDLE = `
  SELECT id FROM hivegate.partition WHERE id = ANY ($1::bigint[])
  ORDER BY id FOR UPDATE SKIP LOCKED`

/** ($1 idle since, $2 now, $3 partitions, locked) */
const REMOVE = `
  WITH gone AS (
    DELETE FROM hivegate.partition p WHERE p.id = ANY ($3::bigint[]) AND ${IDLE}
    RETURNING p.id, p.queue_id),
  cursors AS (
    DELETE FROM hivegate.cursor c USING gone WHERE c.partition_id = gone.id
    RETURNING c.subscription_id, c.started),
  ghosts AS (DELETE FROM hivegate.ghost g USING gone WHERE g.partition_id = gone.id)
  SELECT 'queue' AS kind, queue_id AS id, count(*) AS n FROM gone GROUP BY queue_id
  UNION ALL
  SELECT 'subscription', subscription_id, count(*) FROM cursors c
  WHERE started AND EXISTS (SELECT FROM hivegate.subscription s WHERE s.id = c.subscription_id)
  GROUP BY subscription_id`

interface Candidates {
  readonly ids: readonly number[]
  readonly queues: readonly number[]
  readonly looked_at: number
  readonly last: number | null
}

interface Removed {
  readonly kind: 'queue' | 'subscription'
  readonly id: number
  readonly n: number
}

/** Removes partitions that are empty and have been idle for long. Queue API 16. */
export const cleanUp: JobStep = async (tx, { after, idleUs, nowUs }) => {
  const beforeUs = nowUs - idleUs
  const effects = new Effects()
  const [page] = await tx.rows<Candidates>('cleanup_page', CANDIDATES, [
    beforeUs,
    nowUs,
    after ?? 0,
  ])
  const { ids = [], queues = [], looked_at = 0, last = null } = page ?? {}
  const next = looked_at < PAGE ? null : last
  if (ids.length === 0) return effects.with({ deleted: 0, next })
  // A push or a group's first contact that has found a partition must not find it gone a moment later.
  const labels = await findQueues(tx, queues)
  await enterAlone(
    tx,
    labels.map(({ name }) => name),
  )
  const locked = await tx.rows<{ id: number }>('cleanup_lock', LOCK_IDLE, [ids])
  const idle = locked.map(({ id }) => id)
  await lockCursors(tx, idle)
  const removed = await tx.rows<Removed>('cleanup', REMOVE, [beforeUs, nowUs, idle])
  const ofQueues = removed.filter(({ kind }) => kind === 'queue')
  const ofGroups = removed.filter(({ kind }) => kind === 'subscription')
  await addQueueTotals(
    tx,
    ofQueues.map(({ id, n }) => ({ id, partitions: -n })),
  )
  await addSubscriptionTotals(
    tx,
    ofGroups.map(({ id, n }) => ({ id, members: -n })),
  )
  for (const { id, n } of ofQueues) {
    const label = labels.find((queue) => queue.id === id)
    if (label !== undefined) effects.note(label.name, 'partitionsDeleted', n)
  }
  return effects.with({ deleted: ofQueues.reduce((sum, { n }) => sum + n, 0), next })
}
