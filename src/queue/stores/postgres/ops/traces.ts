import type { Tx } from '../../../../storage/index.ts'
import { freshId } from '../../../message-id.ts'
import type { Writes } from '../../../store.ts'
import { type Answer, quiet } from '../handler.ts'

/** Rows of running totals that one name has at most: what `hivegate.total_slot` ranges over. */
export const TRACE_NAME_SLOTS = 16

/**
 * The event, its names, and the totals of those; names in their order, which is that in which all writers lock
 * them. The last part has to come from `pair`: only there it shows whether the message is new to the name.
 */
const ADD = `WITH origin AS (
    SELECT p.id FROM hivegate.partition p JOIN hivegate.queue q ON q.id = p.queue_id AND NOT q.deleted
    WHERE p.uuid = $2 AND EXISTS (SELECT FROM hivegate.message m
      WHERE m.partition_id = p.id AND m.transaction_id = $3 AND m.position >= p.head)),
  made AS (
    INSERT INTO hivegate.trace
      (id, partition_id, transaction_id, group_name, event_type, worker_id, data, created_at)
    SELECT $1, o.id, $3, $4, $5, $6, $7, $8 FROM origin o RETURNING id, partition_id),
  given AS (SELECT DISTINCT n.name COLLATE "C" AS name FROM unnest($9::text[]) n (name)),
  tag AS (
    INSERT INTO hivegate.trace_tag (name, trace_id) SELECT g.name, made.id FROM made, given g),
  pair AS (
    INSERT INTO hivegate.trace_name_message AS n (name, partition_id, transaction_id, traces)
    SELECT g.name, made.partition_id, $3, 1 FROM made, given g ORDER BY g.name
    ON CONFLICT (name, partition_id, transaction_id) DO UPDATE SET traces = n.traces + 1
    RETURNING n.name, n.traces),
  counted AS (
    INSERT INTO hivegate.trace_name AS n (name, slot, traces, messages, last_seen)
    SELECT p.name, hivegate.total_slot(), 1, (p.traces = 1)::int, $8
    FROM pair p ORDER BY p.name
    ON CONFLICT (name, slot) DO UPDATE SET traces = n.traces + 1,
      messages = n.messages + excluded.messages,
      last_seen = greatest(n.last_seen, excluded.last_seen))
  SELECT id FROM made`

/** Adds an event to the life of a stored message. Queue API 10.4. */
export async function addTrace(
  tx: Tx,
  args: Writes['addTrace']['args'],
): Promise<Answer<Writes['addTrace']['result']>> {
  const [made] = await tx.rows<{ id: string }>('add_trace', ADD, [
    freshId(Math.floor(args.nowUs / 1000)),
    args.partitionId,
    args.transactionId,
    args.group,
    args.eventType,
    args.workerId,
    args.data,
    args.nowUs,
    args.names,
  ])
  return quiet({ traceId: made?.id ?? null })
}
