import type { Tx } from '../../../../storage/index.ts'
import type { Writes } from '../../../store.ts'
import { type Answer, quiet } from '../handler.ts'
import { enterAlone, findQueue, lockCursors } from './locks.ts'
import { addQueueTotals, addSubscriptionTotals } from './totals.ts'

type Args = Writes['clearQueue']['args']
type Result = Writes['clearQueue']['result']

/** A page of the partitions of a queue, or the one that is named, locked. ($1 queue, $2 after, $3 name, $4 limit) */
export const LOCK_PAGE = `
  SELECT id FROM hivegate.partition
  WHERE queue_id = $1 AND id > $2 AND ($3::text IS NULL OR name = $3)
  ORDER BY id LIMIT $4 FOR NO KEY UPDATE`

/**
 * Takes the messages out of sight and leaves the cursors at the end; the purge job takes the rows away.
 * ($1 partitions)
 */
const CLEAR = `
  WITH p AS MATERIALIZED (
    SELECT p.id, p.head, p.next, hivegate.stored_between(p, 0, p.next - 1) AS stored
    FROM hivegate.partition p WHERE p.id = ANY ($1::bigint[])),
  passed AS MATERIALIZED (
    SELECT c.subscription_id, sum(hivegate.stored_between(p, 0, c.position)) AS n
    FROM hivegate.partition p JOIN hivegate.cursor c ON c.partition_id = p.id
    WHERE p.id = ANY ($1::bigint[])
      AND EXISTS (SELECT FROM hivegate.subscription s WHERE s.id = c.subscription_id)
    GROUP BY c.subscription_id),
  cursors AS (
    UPDATE hivegate.cursor c SET position = p.next - 1, retry_count = 0, ready_at = NULL,
      lease_id = NULL, lease_until = NULL, lease_end = NULL, lease_left = 0
    FROM p WHERE c.partition_id = p.id
      AND (c.position <> p.next - 1 OR c.lease_id IS NOT NULL OR c.ready_at IS NOT NULL
        OR c.retry_count <> 0)),
  heads AS (
    UPDATE hivegate.partition SET head = p.next, holes = 0
    FROM p WHERE partition.id = p.id AND p.head < p.next),
  work AS (
    INSERT INTO hivegate.cleared_partition SELECT id FROM p WHERE stored > 0 ON CONFLICT DO NOTHING)
  SELECT coalesce((SELECT sum(stored) FROM p), 0) AS deleted,
    coalesce(array_agg(subscription_id), '{}') AS subscriptions, coalesce(array_agg(n), '{}') AS passed
  FROM passed`

interface Cleared {
  readonly deleted: number
  readonly subscriptions: readonly number[]
  readonly passed: readonly number[]
}

async function dropBuffered(tx: Tx, { queue, partition }: Args): Promise<number> {
  const [row] = await tx.rows<{ n: number }>(
    'drop_buffered',
    `WITH gone AS (DELETE FROM hivegate.buffered_push
       WHERE queue = $1 AND ($2::text IS NULL OR partition = $2) RETURNING 1)
     SELECT count(*) AS n FROM gone`,
    [queue, partition],
  )
  return row?.n ?? 0
}

/** One step of clear: a page of partitions of the queue, or the one that is named. Queue API 9. */
export async function clearQueue(tx: Tx, args: Args): Promise<Answer<Result>> {
  const nothing = quiet<Result>({ found: false, deleted: 0, next: null })
  // The drain of the buffer must not put back what this step has found there.
  await tx.rows('buffer_gate_shared', 'SELECT hivegate.enter_buffer_gate(false)')
  await enterAlone(tx, [args.queue])
  const queue = await findQueue(tx, args.queue)
  if (queue === undefined) return nothing
  const page = await tx.rows<{ id: number }>('lock_page', LOCK_PAGE, [
    queue.id,
    args.partition === null ? (args.after ?? 0) : 0,
    args.partition,
    args.limit,
  ])
  if (args.partition !== null && page.length === 0) return nothing
  const ids = page.map(({ id }) => id)
  await lockCursors(tx, ids)
  const [cleared] = await tx.rows<Cleared>('clear', CLEAR, [ids])
  const { deleted, subscriptions, passed } = cleared ?? {
    deleted: 0,
    subscriptions: [],
    passed: [],
  }
  // What push maintenance has diverted goes with the first step.
  const dropped = args.after === null ? await dropBuffered(tx, args) : 0
  await addQueueTotals(tx, [{ id: queue.id, stored: -deleted }])
  await addSubscriptionTotals(
    tx,
    subscriptions.map((id, at) => ({ id, passed: -(passed[at] ?? 0) })),
  )
  const isLast = args.partition !== null || page.length < args.limit
  const next = isLast ? null : (ids.at(-1) ?? null)
  return quiet({ found: true, deleted: deleted + dropped, next })
}
