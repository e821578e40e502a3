import type { Tx } from '../../../../storage/index.ts'
import { freshId } from '../../../message-id.ts'
import type { Writes } from '../../../store.ts'
import { quiet, type WriteHandler } from '../handler.ts'
import { Effects } from './effects.ts'
import { enterShared, findQueue, lockPartitions } from './locks.ts'
import { addQueueTotals, addSubscriptionTotals } from './totals.ts'

type Args = Writes['moveToDlq']['args']

/** ($1 partition id, $2 transaction id) */
const FIND = `
  SELECT p.id, q.name AS queue FROM hivegate.partition p
  JOIN hivegate.queue q ON q.id = p.queue_id AND NOT q.deleted
  WHERE p.uuid = $1 AND EXISTS (SELECT FROM hivegate.message m
    WHERE m.partition_id = p.id AND m.transaction_id = $2 AND m.position >= p.head)`

/**
 * Puts the group's cursor, from which nothing was delivered yet, to its start; answers by how much the number of
 * passed messages changes. ($1 partition, $2 subscription, $3 now)
 */
const PLACE = `
  WITH placed AS MATERIALIZED (
    SELECT hivegate.start_position(s, p) AS start, p.next,
      hivegate.passed_by(p, c.position, hivegate.start_position(s, p)) AS passed
    FROM hivegate.partition p
    JOIN hivegate.cursor c ON c.partition_id = p.id AND c.subscription_id = $2
    JOIN hivegate.subscription s ON s.id = c.subscription_id
    WHERE p.id = $1 AND NOT c.started AND s.mode <> 'all'),
  moved AS (
    UPDATE hivegate.cursor c
    SET position = start, ready_at = CASE WHEN start < next - 1 THEN $3::bigint END
    FROM placed WHERE c.partition_id = $1 AND c.subscription_id = $2 AND c.position <> start)
  SELECT passed FROM placed`

/** The group's next message, if it bears the transaction id. ($1 partition, $2 subscription, $3 transaction id) */
const NEXT = `
  SELECT next.position FROM hivegate.cursor c
  JOIN hivegate.partition p ON p.id = c.partition_id
  CROSS JOIN LATERAL (
    SELECT m.position, m.transaction_id FROM hivegate.message m
    WHERE m.partition_id = p.id AND m.position > greatest(c.position, p.head - 1)
    ORDER BY m.position LIMIT 1) next
  WHERE c.partition_id = $1 AND c.subscription_id = $2 AND next.transaction_id = $3`

/** ($1 row id, $2 group, $3 now, $4 error, $5 partition, $6 position, $7 subscription) */
const FILE = `
  INSERT INTO hivegate.dead_letter (uuid, queue_id, partition_id, partition_uuid, partition_name,
    group_name, message_id, transaction_id, trace_id, producer_sub, encrypted, payload, created_at,
    failed_at, error, retry_count)
  SELECT $1, p.queue_id, p.id, p.uuid, p.name, $2, m.id, m.transaction_id, m.trace_id,
    m.producer_sub, m.encrypted, m.payload, m.created_at, $3, $4, c.retry_count
  FROM hivegate.message m JOIN hivegate.partition p ON p.id = m.partition_id
  JOIN hivegate.cursor c ON c.partition_id = p.id AND c.subscription_id = $7
  WHERE m.partition_id = $5 AND m.position = $6`

/**
 * The cursor moves past the message; a lease goes on for what is left of its span.
 * ($1 partition, $2 subscription, $3 position, $4 now)
 */
const PASS = `
  UPDATE hivegate.cursor c SET position = $3, started = true, retry_count = 0,
    lease_left = CASE WHEN c.lease_end > $3 THEN greatest(0, c.lease_left - 1) ELSE 0 END,
    lease_id = CASE WHEN c.lease_end > $3 THEN c.lease_id END,
    lease_until = CASE WHEN c.lease_end > $3 THEN c.lease_until END,
    lease_end = CASE WHEN c.lease_end > $3 THEN c.lease_end END,
    ready_at = CASE WHEN c.lease_end > $3 THEN c.ready_at WHEN p.next - 1 > $3 THEN $4::bigint END
  FROM hivegate.partition p, hivegate.cursor old
  WHERE c.partition_id = $1 AND c.subscription_id = $2 AND p.id = c.partition_id
    AND old.partition_id = c.partition_id AND old.subscription_id = c.subscription_id
  RETURNING NOT old.started AS fresh, c.lease_id IS NULL AND c.ready_at IS NOT NULL AS ready`

/** What a message is filed for. */
interface Filing {
  readonly partitionId: number
  readonly subscriptionId: number
  readonly position: number
}

async function file(tx: Tx, { partitionId, subscriptionId, position }: Filing, args: Args) {
  const { group, error, nowUs } = args
  const dlqId = freshId(Math.floor(nowUs / 1000))
  await tx.rows('file_dead_letter', FILE, [
    ...[dlqId, group, nowUs],
    error === null ? 'Moved to DLQ manually' : error === '' ? 'Retries exhausted' : error,
    ...[partitionId, position, subscriptionId],
  ])
  const [passed] = await tx.rows<{ fresh: boolean; ready: boolean }>('pass_message', PASS, [
    ...[partitionId, subscriptionId, position, nowUs],
  ])
  return { dlqId, fresh: passed?.fresh === true, ready: passed?.ready === true }
}

/** Files the group's next message; any other one would leave a gap that the cursor cannot keep. Queue API 8.5. */
export const moveToDlq: WriteHandler<'moveToDlq'> = async (tx, args) => {
  const { partitionId, transactionId, nowUs } = args
  const find = () =>
    tx.rows<{ id: number; queue: string }>('find_message', FIND, [partitionId, transactionId])
  const [seen] = await find()
  if (seen === undefined) return quiet({ result: 'unknown' })
  await enterShared(tx, seen.queue)
  await lockPartitions(tx, [seen.id])
  // It may have gone while we waited for the locks.
  const [partition] = await find()
  const queue = await findQueue(tx, seen.queue)
  if (partition === undefined || queue === undefined) return quiet({ result: 'unknown' })
  const [group] = await tx.rows<{ id: number }>(
    'ensure_cursor',
    'SELECT hivegate.ensure_cursor($1, $2, $3) AS id',
    [partition.id, args.group, nowUs],
  )
  if (group === undefined) throw new Error('a group could not be made')
  const { id } = group
  const at = [partition.id, id]
  const [placed] = await tx.rows<{ passed: number }>('place_cursor', PLACE, [...at, nowUs])
  const [next] = await tx.rows<{ position: number }>('next_is', NEXT, [...at, transactionId])
  const moved = placed?.passed ?? 0
  if (next === undefined) {
    await addSubscriptionTotals(tx, [{ id, passed: moved }])
    return quiet({ result: 'not_next' })
  }
  const filing = { partitionId: partition.id, subscriptionId: id, position: next.position }
  const { dlqId, fresh, ready } = await file(tx, filing, args)
  await addQueueTotals(tx, [{ id: queue.id, dead: 1 }])
  await addSubscriptionTotals(tx, [{ id, passed: moved + 1, members: fresh ? 1 : 0 }])
  const effects = new Effects()
  if (ready) effects.wake(queue)
  return effects.with({ result: 'moved', dlqId })
}
