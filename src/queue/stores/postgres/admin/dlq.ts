import type { Tx } from '../../../../storage/index.ts'
import type { Writes } from '../../../store.ts'
import {
  REPLAY_COLUMNS,
  type ReplayColumns,
  replayedItem,
  replayResult,
} from '../../dead-letter-rows.ts'
import { append } from '../append.ts'
import { type Answer, quiet, type WriteHandler } from '../handler.ts'
import { enterShared, findQueue } from './locks.ts'
import { addQueueTotals } from './totals.ts'

/** Queue API 8.2. */
export async function deleteDlq(
  tx: Tx,
  { queue: name, group }: Writes['deleteDlq']['args'],
): Promise<Answer<Writes['deleteDlq']['result']>> {
  const queue = await findQueue(tx, name)
  if (queue === undefined) return quiet({ deleted: 0 })
  const [row] = await tx.rows<{ n: number }>(
    'delete_dlq',
    `WITH gone AS (DELETE FROM hivegate.dead_letter
       WHERE queue_id = $1 AND ($2::text IS NULL OR group_name = $2) RETURNING 1)
     SELECT count(*) AS n FROM gone`,
    [queue.id, group],
  )
  const deleted = row?.n ?? 0
  await addQueueTotals(tx, [{ id: queue.id, dead: -deleted }])
  return quiet({ deleted })
}

const LIVE = 'hivegate.dead_letter d JOIN hivegate.queue q ON q.id = d.queue_id AND NOT q.deleted'

/** The row that is meant; by address the newest. */
async function find(tx: Tx, by: Writes['replayDlq']['args']['by']) {
  const [row] =
    'dlqId' in by
      ? await tx.rows<{ uuid: string; queue: string }>(
          'find_dlq',
          `SELECT d.uuid, q.name AS queue FROM ${LIVE} WHERE d.uuid = $1`,
          [by.dlqId],
        )
      : await tx.rows<{ uuid: string; queue: string }>(
          'find_newest_dlq',
          `SELECT d.uuid, q.name AS queue FROM ${LIVE}
           WHERE d.partition_uuid = $1 AND d.transaction_id = $2
           ORDER BY d.failed_at DESC, d.id DESC LIMIT 1`,
          [by.partitionId, by.transactionId],
        )
  return row
}

/** Removes the row and answers it: of two replays at once only one has it. */
async function take(tx: Tx, uuid: string): Promise<ReplayColumns | undefined> {
  const [row] = await tx.rows<ReplayColumns>(
    'take_dlq',
    `DELETE FROM hivegate.dead_letter d USING hivegate.queue q
     WHERE d.uuid = $1 AND q.id = d.queue_id AND NOT q.deleted
     RETURNING ${REPLAY_COLUMNS}`,
    [uuid],
  )
  return row
}

/** Pushes the copy again under a transaction id made of the row's, and removes the row. Queue API 8.3, 8.4. */
export const replayDlq: WriteHandler<'replayDlq'> = async (tx, args, context) => {
  const { by, nowUs } = args
  const found = await find(tx, by)
  if (found === undefined) return quiet({ result: 'gone' })
  const queue = args.queue ?? found.queue
  await enterShared(tx, queue)
  const row = await take(tx, found.uuid)
  if (row === undefined) return quiet({ result: 'gone' })
  const target = { queue, partition: args.partition ?? row.partition_name }
  const item = replayedItem(row, target, context.cipher)
  const appending = { items: [item], producerSub: row.producer_sub, nowUs }
  const { value, wakes, notes } = await append(tx, appending, context)
  const [pushed] = value
  if (pushed === undefined) throw new Error('an item without a result')
  await addQueueTotals(tx, [{ id: row.queue_id, dead: -1 }])
  return { value: replayResult(row, target, pushed), wakes, notes }
}
