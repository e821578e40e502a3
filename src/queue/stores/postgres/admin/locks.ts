import type { Tx } from '../../../../storage/index.ts'

/**
 * Locks partitions against every change of their messages, in the order that all writers keep (docs: ascending
 * ids), and answers those that still exist.
 */
export async function lockPartitions(tx: Tx, ids: readonly number[]): Promise<readonly number[]> {
  const rows = await tx.rows<{ id: number }>(
    'lock_partitions',
    `SELECT id FROM hivegate.partition WHERE id = ANY ($1::bigint[])
     ORDER BY id FOR NO KEY UPDATE`,
    [ids],
  )
  return rows.map(({ id }) => id)
}

/** Locks the cursors of every group on these partitions; the partitions are locked before. */
export async function lockCursors(tx: Tx, partitionIds: readonly number[]): Promise<void> {
  await tx.rows(
    'lock_cursors',
    `SELECT count(*) FROM (
       SELECT 1 FROM hivegate.cursor WHERE partition_id = ANY ($1::bigint[])
       ORDER BY partition_id, subscription_id FOR UPDATE) locked`,
    [partitionIds],
  )
}

/** Locks the cursors of one group on these partitions. */
export async function lockGroupCursors(
  tx: Tx,
  subscriptionId: number,
  partitionIds: readonly number[],
): Promise<void> {
  await tx.rows(
    'lock_group_cursors',
    `SELECT count(*) FROM (
       SELECT 1 FROM hivegate.cursor WHERE partition_id = ANY ($1::bigint[]) AND subscription_id = $2
       ORDER BY partition_id FOR UPDATE) locked`,
    [partitionIds, subscriptionId],
  )
}

/** A live queue as far as wakes and notes need it. */
export interface QueueLabel {
  readonly id: number
  readonly name: string
  readonly namespace: string
  readonly task: string
}

/**
 * Takes the gates of queues, by name: alone, so that no push and no pop is half-way through them and no partition
 * or group is made meanwhile. Gates come before every other lock.
 */
export async function enterAlone(tx: Tx, queues: readonly string[]): Promise<void> {
  if (queues.length === 0) return
  await tx.rows('gates_alone', `SELECT hivegate.enter_gates('{}', $1::text[])`, [queues])
}

/** Takes the gate of a queue together with others: it is neither deleted nor changed meanwhile. */
export async function enterShared(tx: Tx, queue: string): Promise<void> {
  await tx.rows('gate_shared', 'SELECT hivegate.enter_gates(ARRAY[$1::text])', [queue])
}

/** A live queue by its name. */
export async function findQueue(tx: Tx, name: string): Promise<QueueLabel | undefined> {
  const [queue] = await tx.rows<QueueLabel>(
    'find_queue',
    'SELECT id, name, namespace, task FROM hivegate.queue WHERE name = $1 AND NOT deleted',
    [name],
  )
  return queue
}

/** Live queues by their ids. */
export async function findQueues(tx: Tx, ids: readonly number[]): Promise<readonly QueueLabel[]> {
  return tx.rows<QueueLabel>(
    'find_queues',
    `SELECT id, name, namespace, task FROM hivegate.queue WHERE id = ANY ($1::bigint[]) AND NOT deleted
     ORDER BY id`,
    [ids],
  )
}
