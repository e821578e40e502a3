import type { Request, Router } from 'express'
import { answerJson } from '../../http/index.ts'
import { sumAll, sumBy } from '../metrics/series.ts'
import { perSecond, type Span, spanOf, timeRangeOf } from '../metrics/span.ts'
import { lagOf } from '../metrics/views.ts'
import { ofQueue, queueLag, queueOps, queueParked } from '../shapes/analytics.ts'
import { retention } from '../shapes/upkeep.ts'
import type { QueuePoint } from '../store-ops.ts'
import type { QueueRouteParts } from './parts.ts'
import { queryOf } from './request.ts'

function timeOfBucket(bucketMs: number): string {
  return new Date(bucketMs).toISOString()
}

/** One row for each queue and bucket, the processes added up. */
function byQueueAndBucket(points: readonly QueuePoint[]) {
  const names = new Map(
    points.map((point) => [JSON.stringify([point.bucketMs, point.queue]), point]),
  )
  const sums = sumBy(points, (point) => JSON.stringify([point.bucketMs, point.queue]))
  return [...sums].flatMap(([key, figures]) => {
    const point = names.get(key)
    return point === undefined ? [] : [{ bucketMs: point.bucketMs, queue: point.queue, figures }]
  })
}

type Row = ReturnType<typeof byQueueAndBucket>[number]

function opsPoint(
  { bucketMs, queue, figures }: Row,
  { bucketMinutes }: Span,
  partitions: ReadonlyMap<string, number>,
) {
  return {
    bucket: timeOfBucket(bucketMs),
    queueName: queue,
    pushRequests: figures.pushRequests,
    pushMessages: figures.pushMessages,
    popMessages: figures.popMessages,
    popEmpty: figures.popEmpty,
    ackRequests: figures.ackRequests,
    ackSuccess: figures.ackSuccess,
    ackFailed: figures.ackFailed,
    transactions: figures.transactions,
    partitionsCreated: figures.partitionsCreated,
    partitionsDeleted: figures.partitionsDeleted,
    // Partitions are counted now, not then: the history knows only how many came and went.
    partitionCount: partitions.get(queue) ?? 0,
    ...lagOf(figures),
    pushPerSecond: perSecond(figures.pushMessages, bucketMinutes),
    popPerSecond: perSecond(figures.popMessages, bucketMinutes),
    ackPerSecond: perSecond(figures.ackSuccess + figures.ackFailed, bucketMinutes),
    emptyPerSecond: perSecond(figures.popEmpty, bucketMinutes),
    parkedCount: figures.parked,
  }
}

function removedOf(figures: QueuePoint['figures']) {
  const { retentionMsgs, completedRetentionMsgs, evictionMsgs, retentionEvents } = figures
  return {
    retentionMsgs,
    completedRetentionMsgs,
    evictionMsgs,
    totalMsgs: retentionMsgs + completedRetentionMsgs + evictionMsgs,
    eventCount: retentionEvents,
  }
}

/** GET /api/v1/analytics/queue-lag, queue-ops, queue-parked-replicas and retention. Queue API 11. */
export function queueAnalyticsRoutes(router: Router, parts: QueueRouteParts): void {
  const { clock, engine, history } = parts

  function spanOfRequest(req: Request) {
    const query = queryOf(ofQueue, req)
    const span = spanOf(query, clock.now())
    const head = { timeRange: timeRangeOf(span), bucketMinutes: span.bucketMinutes }
    return { span, head, query: { queue: query.queue } }
  }

  async function pointsOf(req: Request) {
    const { span, head, query } = spanOfRequest(req)
    return { span, head, points: await history.queues(span, query) }
  }

  router.get(queueLag.path, async (req, res) => {
    const { points } = await pointsOf(req)
    const rows = byQueueAndBucket(points).filter(({ figures }) => figures.popMessages > 0)
    const body = rows.toReversed().map(({ bucketMs, queue, figures }) => ({
      queueName: queue,
      popCount: figures.popMessages,
      ...lagOf(figures),
      bucketTime: timeOfBucket(bucketMs),
    }))
    answerJson(res, 200, body)
  })

  router.get(queueOps.path, async (req, res) => {
    const { points, span, head } = await pointsOf(req)
    const partitions = await engine.read('partitionCounts', null)
    answerJson(res, 200, {
      ...head,
      series: byQueueAndBucket(points).map((row) => opsPoint(row, span, partitions)),
      queues: [...new Set(points.map(({ queue }) => queue))].toSorted(),
    })
  })

  router.get(queueParked.path, async (req, res) => {
    const { points, head } = await pointsOf(req)
    const replicas = new Map(
      points.map(({ hostname, workerId }) => [
        JSON.stringify([hostname, workerId]),
        { hostname, workerId },
      ]),
    )
    const series = points.map(({ bucketMs, queue, hostname, workerId, figures }) => ({
      bucket: timeOfBucket(bucketMs),
      queueName: queue,
      hostname,
      workerId,
      parkedCount: figures.parked,
    }))
    answerJson(res, 200, { ...head, series, replicas: [...replicas.values()] })
  })

  router.get(retention.path, async (req, res) => {
    const { span, head, query } = spanOfRequest(req)
    const points = await history.sums(span, query)
    const active = [...sumBy(points, ({ bucketMs }) => bucketMs)].filter(
      ([, figures]) => figures.retentionEvents > 0,
    )
    answerJson(res, 200, {
      ...head,
      series: active.map(([bucketMs, figures]) => ({
        bucket: timeOfBucket(bucketMs),
        ...removedOf(figures),
      })),
      totals: removedOf(sumAll(points)),
    })
  })
}
