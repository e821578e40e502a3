import type { Router } from 'express'
import { answerJson } from '../../http/index.ts'
import { bucketsOf, sumAll } from '../metrics/series.ts'
import { spanOf, timeRangeOf } from '../metrics/span.ts'
import { batchEfficiency, throughputPoint, workerRows } from '../metrics/views.ts'
import { overallStatus, statusAnalytics, statusBuffers } from '../shapes/status.ts'
import { bufferedOf } from './buffered.ts'
import type { QueueRouteParts } from './parts.ts'
import { queryOf } from './request.ts'
import { sixOf } from './resources.ts'

const DAY_MS = 86_400_000

/** Minutes in one interval of GET /api/v1/status/analytics. */
const INTERVALS = { minute: 1, hour: 60, day: 1440 } as const

/** GET /api/v1/status: the whole picture. Queue API 11.1. */
function overallRoute(router: Router, parts: QueueRouteParts): void {
  const { engine, clock, history, sampleIntervalMs } = parts
  router.get(overallStatus.path, async (req, res) => {
    const query = queryOf(overallStatus.query, req)
    const span = spanOf(query, clock.now())
    const { queue = null, namespace = null, task = null } = query
    const [figures, counted, sampled] = await Promise.all([
      engine.read('status', { queue, namespace, task }),
      history.sums(span, query),
      history.processes(span),
    ])
    const buckets = bucketsOf(counted, sampled).toReversed()
    const sums = sumAll(counted)
    answerJson(res, 200, {
      timeRange: timeRangeOf(span),
      bucketMinutes: span.bucketMinutes,
      pointCount: buckets.length,
      throughput: buckets.map((bucket) =>
        throughputPoint(bucket, span.bucketMinutes, sampleIntervalMs),
      ),
      queues: figures.queues,
      messages: {
        ...sixOf(figures.counts),
        requests: { push: sums.pushRequests, pop: sums.popRequests, ack: sums.ackRequests },
        batchEfficiency: batchEfficiency(sums),
      },
      leases: figures.leases,
      deadLetterQueue: figures.deadLetters,
      workers: workerRows(counted, sampled).map(({ worker }) => worker),
      errors: {
        dbErrors: sums.storeErrors,
        ackFailed: sums.ackFailed,
        dlqMessages: sums.dlqMessages,
      },
      // Every figure was read for this answer.
      statsAge: 0,
    })
  })
}

/** GET /api/v1/status, /status/analytics and /status/buffers. Queue API 11. */
export function statusRoutes(router: Router, parts: QueueRouteParts): void {
  const { engine, clock, history, workerId } = parts
  overallRoute(router, parts)

  router.get(statusAnalytics.path, async (req, res) => {
    const { interval = 'hour', ...asked } = queryOf(statusAnalytics.query, req)
    const span = spanOf(asked, clock.now(), DAY_MS)
    const points = await history.sums({ ...span, bucketMinutes: INTERVALS[interval] })
    const dataPoints = bucketsOf(points, []).map(({ atMs, figures }) => ({
      timestamp: new Date(atMs).toISOString(),
      messages: figures.pushMessages,
    }))
    answerJson(res, 200, { dataPoints, interval, ...timeRangeOf(span) })
  })

  router.get(statusBuffers.path, async (_req, res) => {
    const { pending, failed } = await bufferedOf(engine)
    answerJson(res, 200, { pending, failed, dbHealthy: true, worker: workerId })
  })
}
