import { z } from 'zod'
import { operation } from '../../http/operation.ts'
import { textParam } from '../../http/query.ts'
import { spanQuery, workerRow } from './status.ts'
import { amount, count, seriesHead, time, timeRange } from './values.ts'

const leaf = z.strictObject({ avg: amount, min: amount, max: amount, last: amount })
const gauges = z.record(z.string(), leaf)
/** Head of a series that is not one point per bucket. */
export const bucketHead = { timeRange, bucketMinutes: seriesHead.bucketMinutes } as const
/** The query of a series that one queue can be picked from. */
export const ofQueue = z.object({ ...spanQuery, queue: textParam() })

/** GET /api/v1/analytics/system-metrics: load of each process over time. */
export const systemMetrics = operation({
  method: 'GET',
  path: '/api/v1/analytics/system-metrics',
  query: z.object({ ...spanQuery, hostname: textParam(), workerId: textParam() }),
  answers: {
    200: {
      about: 'One series for each process that ran in the span.',
      json: z.strictObject({
        ...seriesHead,
        replicaCount: count,
        replicas: z.array(
          z.strictObject({
            hostname: z.string(),
            port: count,
            workerId: z.string(),
            timeSeries: z.array(
              z.strictObject({
                timestamp: time,
                sampleCount: count,
                metrics: z.strictObject({
                  cpu: z.strictObject({ user_us: leaf, system_us: leaf }),
                  memory: z.strictObject({ rss_bytes: leaf, virtual_bytes: leaf }),
                  database: z.strictObject({
                    pool_size: leaf,
                    pool_idle: leaf,
                    pool_active: leaf,
                  }),
                  threadpool: gauges,
                  registries: gauges,
                  shared_state: gauges,
                }),
              }),
            ),
          }),
        ),
      }),
    },
  },
})

const workerPoint = z.strictObject({
  timestamp: time,
  pushMessages: count,
  popMessages: count,
  ackMessages: count,
  pushRequests: count,
  popRequests: count,
  ackRequests: count,
  jobsDone: count,
  pushPerSecond: amount,
  popPerSecond: amount,
  ackPerSecond: amount,
  avgEventLoopLagMs: amount,
  maxEventLoopLagMs: amount,
  avgFreeSlots: amount,
  minFreeSlots: count,
  dbConnections: count,
  avgJobQueueSize: amount,
  maxJobQueueSize: count,
  backoffSize: count,
  avgLagMs: amount,
  maxLagMs: amount,
  lagCount: count,
  dbErrors: count,
  ackSuccess: count,
  ackFailed: count,
  dlqCount: count,
})

/** GET /api/v1/analytics/worker-metrics: work of all processes over time. Section 11.2. */
export const workerMetrics = operation({
  method: 'GET',
  path: '/api/v1/analytics/worker-metrics',
  query: z.object(spanQuery),
  answers: {
    200: {
      about: 'Series, processes, queues and sums of the span.',
      json: z.strictObject({
        ...seriesHead,
        timeSeries: z.array(workerPoint),
        workers: z.array(z.strictObject({ ...workerRow, backoffSize: count, lastSeen: time })),
        queues: z.array(
          z.strictObject({
            queueName: z.string(),
            popCount: count,
            avgLagMs: amount,
            maxLagMs: amount,
          }),
        ),
        summary: z.strictObject({
          totalPushMessages: count,
          totalPopMessages: count,
          totalAckMessages: count,
          totalPushRequests: count,
          totalPopRequests: count,
          totalAckRequests: count,
          totalDbErrors: count,
          totalAckFailed: count,
          totalDlq: count,
          pendingMessages: count,
        }),
      }),
    },
  },
})

/** GET /api/v1/analytics/queue-lag: how long messages waited for their pop. */
export const queueLag = operation({
  method: 'GET',
  path: '/api/v1/analytics/queue-lag',
  query: ofQueue,
  answers: {
    200: {
      about: 'One row for each queue and bucket with pops, newest first.',
      json: z.array(
        z.strictObject({
          queueName: z.string(),
          popCount: count,
          avgLagMs: amount,
          maxLagMs: amount,
          bucketTime: time,
        }),
      ),
    },
  },
})

/** GET /api/v1/analytics/queue-ops: operations of each queue over time. */
export const queueOps = operation({
  method: 'GET',
  path: '/api/v1/analytics/queue-ops',
  query: ofQueue,
  answers: {
    200: {
      about: 'One row for each queue and bucket with traffic, oldest first.',
      json: z.strictObject({
        ...bucketHead,
        series: z.array(
          z.strictObject({
            bucket: time,
            queueName: z.string(),
            pushRequests: count,
            pushMessages: count,
            popMessages: count,
            popEmpty: count,
            ackRequests: count,
            ackSuccess: count,
            ackFailed: count,
            transactions: count,
            partitionsCreated: count,
            partitionsDeleted: count,
            partitionCount: count,
            avgLagMs: amount,
            maxLagMs: amount,
            pushPerSecond: amount,
            popPerSecond: amount,
            ackPerSecond: amount,
            emptyPerSecond: amount,
            parkedCount: count,
          }),
        ),
        queues: z.array(z.string()),
      }),
    },
  },
})

/** GET /api/v1/analytics/queue-parked-replicas: waiting pops of each queue and process over time. */
export const queueParked = operation({
  method: 'GET',
  path: '/api/v1/analytics/queue-parked-replicas',
  query: ofQueue,
  answers: {
    200: {
      about: 'The most pops that waited at once in each bucket.',
      json: z.strictObject({
        ...bucketHead,
        series: z.array(
          z.strictObject({
            bucket: time,
            queueName: z.string(),
            hostname: z.string(),
            workerId: z.string(),
            parkedCount: count,
          }),
        ),
        replicas: z.array(z.strictObject({ hostname: z.string(), workerId: z.string() })),
      }),
    },
  },
})
