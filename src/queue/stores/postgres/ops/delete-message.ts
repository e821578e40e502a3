import type { Tx } from '../../../../storage/index.ts'
import type { Wake, Writes } from '../../../store.ts'
import { type Answer, quiet } from '../handler.ts'

interface Origin {
  readonly id: number
  readonly queue_id: number
  readonly queue: string
  readonly namespace: string
  readonly task: string
}

const FIND = `SELECT p.id, q.id AS queue_id, q.name AS queue, q.namespace, q.task
  FROM hivegate.partition p JOIN hivegate.queue q ON q.id = p.queue_id AND NOT q.deleted
  WHERE p.uuid = $1`

/** Inside the gate no group gets its cursors, and the queue is not deleted. */
const ENTER = 'SELECT hivegate.enter_gates(ARRAY[$1::text])'

const LOCK_PARTITION = 'SELECT id FROM hivegate.partition WHERE id = $1 FOR NO KEY UPDATE'

const LOCK_CURSORS = `SELECT count(*) FROM (SELECT FROM hivegate.cursor WHERE partition_id = $1
  ORDER BY subscription_id FOR UPDATE) locked`

const REMOVE = `DELETE FROM hivegate.message m USING hivegate.partition p
  WHERE p.id = $1 AND m.partition_id = p.id AND m.transaction_id = $2 AND m.position >= p.head
  RETURNING m.position`

const REMOVE_DEAD = `WITH gone AS (DELETE FROM hivegate.dead_letter
    WHERE partition_uuid = $1 AND transaction_id = $2 RETURNING id)
  SELECT count(*) AS n FROM gone`

const COUNT_QUEUE = 'SELECT hivegate.add_queue_total($1, 0, 0, -$2::bigint, -$3::bigint)'

/** Groups that had passed a removed message have passed fewer now. */
const COUNT_PASSED = `INSERT INTO hivegate.subscription_total AS t (subscription_id, slot, passed)
  SELECT c.subscription_id, hivegate.total_slot(), -count(*)
  FROM hivegate.cursor c JOIN hivegate.subscription s ON s.id = c.subscription_id
  JOIN unnest($2::bigint[]) g (position) ON g.position <= c.position
  WHERE c.partition_id = $1 GROUP BY c.subscription_id ORDER BY c.subscription_id
  ON CONFLICT (subscription_id, slot) DO UPDATE SET passed = t.passed + excluded.passed`

const DIG = 'UPDATE hivegate.partition SET holes = holes + $2 WHERE id = $1'

/**
 * Leases that covered a removed message end with the last one that is left, or at once; `free` when the group
 * may go on. What lies behind is taken for deliverable, as after an ack.
 */
const SHRINK = `UPDATE hivegate.cursor c SET
    lease_id = CASE WHEN l.position IS NOT NULL THEN c.lease_id END,
    lease_until = CASE WHEN l.position IS NOT NULL THEN c.lease_until END,
    lease_end = l.position,
    lease_left = CASE WHEN l.position IS NULL THEN 0 ELSE greatest(c.lease_left - h.held, 0) END,
    ready_at = CASE WHEN l.position IS NOT NULL THEN c.ready_at
      WHEN c.position < p.next - 1 THEN $3::bigint END
  FROM hivegate.partition p,
    (SELECT c.subscription_id, count(*) AS held FROM hivegate.cursor c
      JOIN hivegate.subscription s ON s.id = c.subscription_id
      JOIN unnest($2::bigint[]) g (position)
        ON g.position > c.position AND g.position <= c.lease_end
      WHERE c.partition_id = $1 GROUP BY c.subscription_id) h
  LEFT JOIN LATERAL (SELECT m.position FROM hivegate.message m JOIN hivegate.cursor x
      ON x.partition_id = m.partition_id AND x.subscription_id = h.subscription_id
    WHERE m.partition_id = $1 AND m.position > x.position AND m.position <= x.lease_end
    ORDER BY m.position DESC LIMIT 1) l ON true
  WHERE p.id = $1 AND c.partition_id = p.id AND c.subscription_id = h.subscription_id
  RETURNING l.position IS NULL AND c.ready_at IS NOT NULL AS free`

/** The partition, once its queue stays as it is. */
async function enter(tx: Tx, partitionId: string): Promise<Origin | undefined> {
  const [before] = await tx.rows<Origin>('delete_message_find', FIND, [partitionId])
  if (before === undefined) return undefined
  await tx.rows('delete_message_enter', ENTER, [before.queue])
  const [origin] = await tx.rows<Origin>('delete_message_find', FIND, [partitionId])
  return origin
}

/** Takes the messages of the address out of the partition; answers their positions and who may go on. */
async function remove(tx: Tx, id: number, transactionId: string, nowUs: number) {
  await tx.rows('delete_message_lock', LOCK_PARTITION, [id])
  const rows = await tx.rows<{ position: number }>('delete_message', REMOVE, [id, transactionId])
  const gone = rows.map(({ position }) => position)
  if (gone.length === 0) return { removed: 0, free: false }
  await tx.rows('delete_message_hole', DIG, [id, gone.length])
  await tx.rows('delete_message_cursors', LOCK_CURSORS, [id])
  const leases = await tx.rows<{ free: boolean }>('delete_message_shrink', SHRINK, [
    id,
    gone,
    nowUs,
  ])
  await tx.rows('delete_message_passed', COUNT_PASSED, [id, gone])
  return { removed: gone.length, free: leases.some(({ free }) => free) }
}

/** Removes every stored message of an address, and its dead letters. Queue API 10.3. */
export async function deleteMessage(
  tx: Tx,
  { partitionId, transactionId, nowUs }: Writes['deleteMessage']['args'],
): Promise<Answer<Writes['deleteMessage']['result']>> {
  const origin = await enter(tx, partitionId)
  if (origin === undefined) return quiet({ deleted: false })
  const { removed, free } = await remove(tx, origin.id, transactionId, nowUs)
  const [dead] = await tx.rows<{ n: number }>('delete_message_dead', REMOVE_DEAD, [
    partitionId,
    transactionId,
  ])
  const letters = dead?.n ?? 0
  if (removed + letters === 0) return quiet({ deleted: false })
  await tx.rows('delete_message_totals', COUNT_QUEUE, [origin.queue_id, removed, letters])
  const { queue, namespace, task } = origin
  const wakes: readonly Wake[] = free ? [{ queue, namespace, task, atMs: null }] : []
  return { value: { deleted: true }, wakes, notes: [] }
}
