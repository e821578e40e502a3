import type { Tx } from '../../../../storage/index.ts'
import type { CycleAck, CycleArgs, PushResult, Wake } from '../../../store.ts'
import { ackIn } from '../ack.ts'
import { append } from '../append.ts'
import { type Answer, quiet, RolledBack, type StoreContext, type WriteHandler } from '../handler.ts'
import { applyState } from './state.ts'

const NO_QUERY = 'unknown query_id'
const NO_PARTITION = 'unknown partition_id'
const NOT_FOUND = 'Message not found'

/** Any constant of our own: the first half of the key of a (query, partition). */
const LOCK_CLASS = 6_632_005

/** Takes everything back; the message goes to the client. */
class Refused extends Error {}

interface Place {
  readonly query: number | null
  readonly source_queue: string | null
  readonly partition: number | null
  /** Of the partition's queue. */
  readonly name: string | null
  readonly namespace: string
  readonly task: string
}

/** ($1 query id, $2 partition id) */
const FIND = `
  SELECT s.id AS query, s.source_queue, p.id AS partition, q.name, q.namespace, q.task
  FROM (SELECT $1::text AS query, $2::text AS partition) given
  LEFT JOIN hivegate.stream_query s ON s.uuid = given.query
  LEFT JOIN (hivegate.partition p JOIN hivegate.queue q ON q.id = p.queue_id AND NOT q.deleted)
    ON p.uuid = given.partition`

const CURSOR = `
  SELECT c.subscription_id, c.lease_id, c.lease_until, c.lease_end
  FROM hivegate.cursor c
  JOIN hivegate.subscription s ON s.id = c.subscription_id AND s.group_name = $2
  WHERE c.partition_id = $1 FOR NO KEY UPDATE OF c`

interface Cursor {
  readonly subscription_id: number
  readonly lease_id: string | null
  readonly lease_until: number | null
  readonly lease_end: number | null
}

/** The whole batch is done with, also when the acked message was not its last. ($1 partition, $2 group, $3 now) */
const RELEASE = `
  UPDATE hivegate.cursor SET lease_id = NULL, lease_until = NULL, lease_end = NULL, lease_left = 0,
    ready_at = $3
  WHERE partition_id = $1 AND subscription_id = $2 AND lease_id IS NOT NULL RETURNING 1`

/**
 * A gate lets only a part through and holds the rest back: the lease stays until it runs out, also when the acked
 * message was the last of the batch, so that the group gets nothing from behind it before.
 */
const KEEP = `
  UPDATE hivegate.cursor SET lease_id = $3, lease_until = $4, lease_end = $5, ready_at = $4
  WHERE partition_id = $1 AND subscription_id = $2 AND lease_id IS NULL`

/** One cycle whose query and partition are known. */
interface Cycle {
  readonly tx: Tx
  readonly args: CycleArgs
  readonly partition: number
  /** Of the source. */
  readonly wake: Wake
}

/** Acks and answers whether the lease has ended. A failed cycle gives the lease back and moves nothing. */
async function ackSource(
  { tx, args, partition, wake }: Cycle,
  ack: CycleAck,
): Promise<Answer<boolean>> {
  const { group, partitionId, nowUs } = args
  const [before] = await tx.rows<Cursor>('cycle_cursor', CURSOR, [partition, group])
  const status = ack.status === 'completed' ? ('completed' as const) : ('retry' as const)
  const { transactionId, leaseId } = ack
  const item = { transactionId, partitionId, status, error: null, leaseId }
  const { value, wakes, notes } = await ackIn(tx, { group, items: [item], nowUs })
  const [result] = value
  if (result === undefined || !result.success) throw new Refused(result?.error ?? NOT_FOUND)
  if (ack.status === 'failed' || before === undefined) {
    return { value: result.leaseReleased, wakes, notes }
  }
  const { subscription_id: subscription, lease_id, lease_until, lease_end } = before
  if (args.releaseLease) {
    const freed = await tx.rows('cycle_release', RELEASE, [partition, subscription, nowUs])
    if (freed.length > 0) return { value: true, wakes: [...wakes, wake], notes }
  } else if (lease_id !== null) {
    await tx.rows('cycle_keep', KEEP, [partition, subscription, lease_id, lease_until, lease_end])
  }
  return { value: args.releaseLease, wakes, notes }
}

interface Done {
  readonly leaseReleased: boolean
  readonly pushes: readonly PushResult[]
}

/** State, sink pushes and source ack. The pushes go first: their locks come before those of the cursors. */
async function apply(cycle: Cycle, query: number, context: StoreContext): Promise<Answer<Done>> {
  const { tx, args } = cycle
  const { pushItems, producerSub, partitionId, stateOps, nowUs } = args
  const appending = { items: pushItems, producerSub, nowUs }
  const pushed =
    pushItems.length === 0 ? quiet<readonly PushResult[]>([]) : await append(tx, appending, context)
  await applyState(tx, stateOps, { queryId: query, partitionId, nowUs })
  const acked = args.ack === null ? quiet(false) : await ackSource(cycle, args.ack)
  return {
    value: { leaseReleased: acked.value, pushes: pushed.value },
    wakes: [...pushed.wakes, ...acked.wakes],
    notes: [...pushed.notes, ...acked.notes],
  }
}

/** One step of a stream, all or nothing. Queue API 15.3. */
export const cycle: WriteHandler<'cycle'> = async (tx, args, context) => {
  const ids = [args.queryId, args.partitionId]
  // Cycles on one (query, partition) run one after another.
  await tx.rows(
    'cycle_lock',
    `SELECT pg_advisory_xact_lock(${LOCK_CLASS}, hashtext($1 || $2))`,
    ids,
  )
  const [place] = await tx.rows<Place>('cycle_place', FIND, ids)
  const { query = null, partition = null, name = null } = place ?? {}
  const queueName = name ?? place?.source_queue ?? null
  if (place === undefined || query === null) {
    return quiet({ success: false, queueName, error: NO_QUERY })
  }
  if (name === null || partition === null) {
    return quiet({ success: false, queueName, error: NO_PARTITION })
  }
  const wake = { queue: name, namespace: place.namespace, task: place.task, atMs: null }
  try {
    const { value, wakes, notes } = await apply({ tx, args, partition, wake }, query, context)
    return { value: { success: true, queueName, ...value }, wakes, notes }
  } catch (error) {
    if (!(error instanceof Refused)) throw error
    throw new RolledBack(quiet({ success: false, queueName, error: error.message }))
  }
}
