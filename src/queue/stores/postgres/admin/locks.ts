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

/** Locks a live queue by its name: no partition, group or cursor of it is made meanwhile. */
export async function lockQueue(tx: Tx, name: string): Promise<QueueLabel | undefined> {
  const [queue] = await tx.rows<QueueLabel>(
    'lock_queue',
    `SELECT id, name, namespace, task FROM hivegate.queue WHERE name = $1 AND NOT deleted
     FOR NO KEY UPDATE`,
    [name],
  )
  return queue
}

/** The same for several, by id; those that are gone are left out. */
export async function lockQueues(tx: Tx, ids: readonly number[]): Promise<readonly QueueLabel[]> {
  if (ids.length === 0) return []
  return tx.rows<QueueLabel>(
    'lock_queues',
    `SELECT id, name, namespace, task FROM hivegate.queue WHERE id = ANY ($1::bigint[]) AND NOT deleted
     ORDER BY id FOR NO KEY UPDATE`,
    [ids],
  )
}
