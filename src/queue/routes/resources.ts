import type { Router } from 'express'
import { answerJson, HttpError } from '../../http/index.ts'
import { checkName, isoMicros, isoMicrosOrNull } from '../model.ts'
import {
  clearQueue,
  deleteQueue,
  listPartitions,
  listQueues,
  queueDepth,
  showQueue,
} from '../shapes/resources.ts'
import type { Counts, PartitionRow, QueueRow } from '../store.ts'
import type { QueueRouteParts } from './parts.ts'
import { groupOf, pathParam, queryOf } from './request.ts'

/** The three counters of lists. Queue API 9. */
function threeOf({ total, pending, processing }: Counts) {
  return { total, pending, processing }
}

/** The six counters of details. Queue API 9. */
export function sixOf({ total, pending, processing, completed, failed, deadLetter }: Counts) {
  return { total, pending, processing, completed, failed, deadLetter }
}

function identityOf({ id, name, namespace, task, createdAtUs }: QueueRow) {
  return { id, name, namespace, task, createdAt: isoMicros(createdAtUs) }
}

/** One queue as the lists show it. */
export function queueEntry(row: QueueRow) {
  return { ...identityOf(row), partitions: row.partitions, messages: threeOf(row.counts) }
}

function partitionDetail(row: PartitionRow) {
  return {
    id: row.id,
    name: row.name,
    createdAt: isoMicros(row.createdAtUs),
    stats: sixOf(row.counts),
    oldestMessage: isoMicrosOrNull(row.oldestMessageUs),
    newestMessage: isoMicrosOrNull(row.newestMessageUs),
  }
}

/** Queues: list, detail, depth. Queue API 9. */
export function queueRoutes(router: Router, { engine }: QueueRouteParts): void {
  router.get(listQueues.path, async (req, res) => {
    const { namespace = null, task = null, search = null } = queryOf(listQueues.query, req)
    const filter = { namespace, task, search, limit: null, offset: 0 }
    const { rows } = await engine.read('queues', filter)
    answerJson(res, 200, { queues: rows.map(queueEntry) })
  })
  router.get(showQueue.path, async (req, res) => {
    const queue = checkName('queue', pathParam(req, 'queue'))
    const found = await engine.read('queueDetail', { queue })
    if (found === null) throw new HttpError('not_found', 'Queue not found')
    answerJson(res, 200, {
      ...identityOf(found.queue),
      partitions: found.partitions.map(partitionDetail),
      totals: sixOf(found.queue.counts),
    })
  })
  router.get(queueDepth.path, async (req, res) => {
    const queue = checkName('queue', pathParam(req, 'queue'))
    const group = groupOf(queryOf(queueDepth.query, req).group)
    const found = await engine.read('depth', { queue, group })
    if (found === null) throw new HttpError('not_found', 'Queue not found')
    answerJson(res, 200, { queue, consumerGroup: group, depth: found.pending })
  })
}

/** Deleting and clearing queues. Queue API 9. */
export function queueRemovalRoutes(router: Router, { engine }: QueueRouteParts): void {
  router.delete(deleteQueue.path, async (req, res) => {
    const queue = checkName('queue', pathParam(req, 'queue'))
    const { existed } = await engine.deleteQueue(queue)
    // Never an `error` member: the client would take the 200 for a failure.
    answerJson(
      res,
      200,
      existed
        ? { deleted: true, queue, existed }
        : { deleted: false, existed, queue, message: 'Queue not found' },
    )
  })
  router.delete(clearQueue.path, async (req, res) => {
    const queue = checkName('queue', pathParam(req, 'queue'))
    const { partition = null } = queryOf(clearQueue.query, req)
    const cleared = await engine.clearQueue(queue, partition)
    if (cleared === null) throw new HttpError('not_found', 'Queue or partition not found')
    answerJson(res, 200, { success: true, queue, partition, deleted: cleared.deleted })
  })
}

/** GET /api/v1/resources/partitions. Queue API 9. */
export function partitionRoutes(router: Router, { engine }: QueueRouteParts): void {
  router.get(listPartitions.path, async (req, res) => {
    const { queue = null, limit, offset } = queryOf(listPartitions.query, req)
    const { rows, total } = await engine.read('partitions', { queue, limit, offset })
    const partitions = rows.map((row) => ({
      id: row.id,
      name: row.name,
      queue: row.queue,
      createdAt: isoMicros(row.createdAtUs),
      messages: threeOf(row.counts),
    }))
    answerJson(res, 200, { partitions, total, pagination: { limit, offset } })
  })
}
