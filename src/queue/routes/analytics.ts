import type { Router } from 'express'
import { answerJson } from '../../http/index.ts'
import type { Gauge, SampledMinute, Spread } from '../metrics/columns.ts'
import { bucketsOf, sumAll, sumBy } from '../metrics/series.ts'
import { mean, spanOf, timeRangeOf } from '../metrics/span.ts'
import { lagOf, workerPoint, workerRows } from '../metrics/views.ts'
import { systemMetrics, workerMetrics } from '../shapes/analytics.ts'
import type { ProcessPoint } from '../store-ops.ts'
import type { QueueRouteParts } from './parts.ts'
import { queryOf } from './request.ts'

function leafOf(spread: Spread, samples: number) {
  return { avg: mean(spread.sum, samples), min: spread.min, max: spread.max, last: spread.last }
}

/** The metrics of one bucket in the groups of queue API 11; each leaf is avg, min, max and last. */
function metricsOf({ samples, gauges }: SampledMinute) {
  const leaf = (gauge: Gauge) => leafOf(gauges[gauge], samples)
  return {
    cpu: { user_us: leaf('cpuUserUs'), system_us: leaf('cpuSystemUs') },
    memory: { rss_bytes: leaf('rssBytes'), virtual_bytes: leaf('virtualBytes') },
    database: {
      pool_size: leaf('storeConnections'),
      pool_idle: leaf('storeIdle'),
      pool_active: leaf('storeActive'),
    },
    threadpool: { queue_size: leaf('pendingWrites'), free_slots: leaf('freeSlots') },
    registries: { parked_pops: leaf('parkedPops') },
    shared_state: {},
  }
}

function replicasOf(points: readonly ProcessPoint[]) {
  const byProcess = Map.groupBy(points, ({ process }) => JSON.stringify(process))
  return [...byProcess.values()].map((series) => ({
    hostname: series[0]?.process.hostname ?? '',
    port: series[0]?.process.port ?? 0,
    workerId: series[0]?.process.workerId ?? '',
    timeSeries: series.map((point) => ({
      timestamp: new Date(point.bucketMs).toISOString(),
      sampleCount: point.samples,
      metrics: metricsOf(point),
    })),
  }))
}

function systemRoute(router: Router, { clock, history }: QueueRouteParts): void {
  router.get(systemMetrics.path, async (req, res) => {
    const query = queryOf(systemMetrics.query, req)
    const span = spanOf(query, clock.now())
    const all = await history.processes(span)
    const points = all.filter(({ process }) => {
      const { hostname = process.hostname, workerId = process.workerId } = query
      return process.hostname === hostname && process.workerId === workerId
    })
    const replicas = replicasOf(points)
    answerJson(res, 200, {
      timeRange: timeRangeOf(span),
      replicas,
      replicaCount: replicas.length,
      bucketMinutes: span.bucketMinutes,
      pointCount: new Set(points.map(({ bucketMs }) => bucketMs)).size,
    })
  })
}

/** GET /api/v1/analytics/system-metrics and /worker-metrics. Queue API 11 and 11.2. */
export function analyticsRoutes(router: Router, parts: QueueRouteParts): void {
  const { engine, clock, history } = parts
  systemRoute(router, parts)

  router.get(workerMetrics.path, async (req, res) => {
    const span = spanOf(queryOf(workerMetrics.query, req), clock.now())
    const [counted, ofQueues, sampled, overview] = await Promise.all([
      history.sums(span),
      history.perQueue(span),
      history.processes(span),
      engine.read('overview', {}),
    ])
    const buckets = bucketsOf(counted, sampled)
    const sums = sumAll(counted)
    answerJson(res, 200, {
      timeRange: timeRangeOf(span),
      bucketMinutes: span.bucketMinutes,
      pointCount: buckets.length,
      timeSeries: buckets.map((bucket) => workerPoint(bucket, span.bucketMinutes)),
      workers: workerRows(counted, sampled).map(({ worker, backoffSize, lastSeen }) => ({
        ...worker,
        backoffSize,
        lastSeen,
      })),
      queues: [...sumBy(ofQueues, ({ queue }) => queue)].map(([queueName, figures]) => ({
        queueName,
        popCount: figures.popMessages,
        ...lagOf(figures),
      })),
      summary: {
        totalPushMessages: sums.pushMessages,
        totalPopMessages: sums.popMessages,
        totalAckMessages: sums.ackSuccess + sums.ackFailed,
        totalPushRequests: sums.pushRequests,
        totalPopRequests: sums.popRequests,
        totalAckRequests: sums.ackRequests,
        totalDbErrors: sums.storeErrors,
        totalAckFailed: sums.ackFailed,
        totalDlq: sums.dlqMessages,
        pendingMessages: overview.counts.pending,
      },
    })
  })
}
