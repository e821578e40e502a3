import type { Tx } from '../../../../storage/index.ts'
import type { Writes } from '../../../store.ts'
import { type Answer, quiet } from '../handler.ts'
import { LOCK_PAGE } from './clear.ts'
import { Effects } from './effects.ts'
import { enterAlone, findQueue, lockGroupCursors } from './locks.ts'
import { ensureSubscription } from './subscriptions.ts'
import { addSubscriptionTotals } from './totals.ts'

type Args = Writes['seek']['args']
type Result = Writes['seek']['result']

/**
 * Puts the group's cursors to their targets, made where there are none: no lease, no retry count, figures in
 * step. ($1 partitions, $2 subscription, $3 moment or NULL = the end, $4 now)
 */
const MOVE = `
  WITH p AS MATERIALIZED (
    SELECT p.id, p.head, p.next, c.started, t.target,
      hivegate.passed_by(p, coalesce(c.position, 0), t.target) AS passed
    FROM hivegate.partition p
    LEFT JOIN hivegate.cursor c ON c.partition_id = p.id AND c.subscription_id = $2
    CROSS JOIN LATERAL (SELECT CASE WHEN $3::bigint IS NULL THEN p.next
      ELSE hivegate.first_made_from(p, $3) END - 1 AS target) t
    WHERE p.id = ANY ($1::bigint[])),
  moved AS (
    INSERT INTO hivegate.cursor AS c (partition_id, subscription_id, position, started, ready_at)
    SELECT id, $2, target, true, CASE WHEN target < next - 1 THEN $4::bigint END FROM p ORDER BY id
    ON CONFLICT (partition_id, subscription_id) DO UPDATE SET position = excluded.position,
      started = true, retry_count = 0, lease_id = NULL, lease_until = NULL, lease_end = NULL,
      lease_left = 0, ready_at = excluded.ready_at)
  SELECT coalesce(sum(passed), 0) AS passed,
    count(*) FILTER (WHERE started IS NOT TRUE) AS members,
    coalesce(bool_or(target < next - 1), false) AS ready,
    (SELECT m.id FROM p JOIN hivegate.message m ON m.partition_id = p.id
     WHERE cardinality($1::bigint[]) = 1 AND m.position >= p.head AND m.position <= p.target
     ORDER BY m.position DESC LIMIT 1) AS moved_to
  FROM p`

interface Moved {
  readonly passed: number
  readonly members: number
  readonly ready: boolean
  readonly moved_to: string | null
}

/** One step of a seek over the partitions of a queue. Queue API 7.7 and 7.8. */
export async function seek(tx: Tx, args: Args): Promise<Answer<Result>> {
  const { group, partition, target, nowUs } = args
  const nothing = quiet<Result>({ found: false, updated: 0, movedTo: null, next: null })
  await enterAlone(tx, [args.queue])
  const queue = await findQueue(tx, args.queue)
  if (queue === undefined) return nothing
  const after = partition === null ? (args.after ?? 0) : 0
  const page = await tx.rows<{ id: number }>('lock_page', LOCK_PAGE, [
    ...[queue.id, after, partition],
    args.limit,
  ])
  if (partition !== null && page.length === 0) return nothing
  const ids = page.map(({ id }) => id)
  const next = partition !== null || page.length < args.limit ? null : (ids.at(-1) ?? null)
  if (ids.length === 0) return quiet({ found: true, updated: 0, movedTo: null, next })
  const subscription = await ensureSubscription(tx, queue, group)
  await lockGroupCursors(tx, subscription.id, ids)
  const atUs = target.to === 'end' ? null : target.atUs
  const [moved] = await tx.rows<Moved>('seek', MOVE, [ids, subscription.id, atUs, nowUs])
  if (moved === undefined) return nothing
  const { passed, members, ready } = moved
  await addSubscriptionTotals(tx, [{ id: subscription.id, passed, members }])
  const effects = new Effects()
  if (ready) effects.wake(queue)
  const movedTo = partition === null ? null : moved.moved_to
  return effects.with({ found: true, updated: ids.length, movedTo, next })
}
