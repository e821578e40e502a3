import type { Router } from 'express'
import { answerJson, HttpError } from '../../http/index.ts'
import { checkName, isoMicros, isoMicrosOrNull } from '../model.ts'
import { statusQueue, statusQueues } from '../shapes/status.ts'
import type { PartitionRow } from '../store.ts'
import type { QueueRouteParts } from './parts.ts'
import { pathParam, queryOf } from './request.ts'
import { queueEntry, sixOf } from './resources.ts'

function latest(partition: PartitionRow): string | null {
  const { newestMessageUs, lastConsumedAtUs } = partition
  if (newestMessageUs === null) return isoMicrosOrNull(lastConsumedAtUs)
  return isoMicros(Math.max(newestMessageUs, lastConsumedAtUs ?? 0))
}

function partitionOf(partition: PartitionRow) {
  const six = sixOf(partition.counts)
  return {
    id: partition.id,
    name: partition.name,
    createdAt: isoMicros(partition.createdAtUs),
    messages: six,
    stats: six,
    cursor: {
      totalConsumed: partition.totalConsumed,
      batchesConsumed: partition.batchesConsumed,
    },
    lastActivity: latest(partition),
    oldestMessage: isoMicrosOrNull(partition.oldestMessageUs),
    newestMessage: isoMicrosOrNull(partition.newestMessageUs),
  }
}

/** GET /api/v1/status/queues and /status/queues/:queue. Queue API 11. */
export function statusQueueRoutes(router: Router, { engine }: QueueRouteParts): void {
  router.get(statusQueues.path, async (req, res) => {
    const query = queryOf(statusQueues.query, req)
    const { limit, offset, namespace = null, task = null } = query
    const page = { namespace, task, search: null, limit, offset }
    const { rows, total } = await engine.read('queues', page)
    answerJson(res, 200, { queues: rows.map(queueEntry), pagination: { limit, offset, total } })
  })

  router.get(statusQueue.path, async (req, res) => {
    const name = checkName('queue', pathParam(req, 'queue'))
    const [detail, options] = await Promise.all([
      engine.read('queueDetail', { queue: name }),
      engine.read('queueOptions', { queue: name }),
    ])
    if (detail === null || options === null) throw new HttpError('not_found', 'Queue not found')
    const { queue, partitions } = detail
    const { leaseTime, retryLimit, retryDelay, ttl, maxSize, deadLetterQueue } = options
    const totals = sixOf(queue.counts)
    answerJson(res, 200, {
      queue: {
        id: queue.id,
        name: queue.name,
        namespace: queue.namespace,
        task: queue.task,
        priority: queue.priority,
        createdAt: isoMicros(queue.createdAtUs),
        config: {
          leaseTime,
          retryLimit,
          retryDelay,
          ttl,
          maxQueueSize: maxSize,
          deadLetterQueue,
        },
      },
      partitions: partitions.map(partitionOf),
      totals: { messages: totals, ...totals },
    })
  })
}
