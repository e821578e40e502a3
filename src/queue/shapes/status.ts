import { z } from 'zod'
import { operation } from '../../http/operation.ts'
import { integerParam, textParam, timeParam, wordParam } from '../../http/query.ts'
import { MAX_PAGE } from './messages.ts'
import { amount, count, fails, seriesHead, sixCounters, time } from './values.ts'

/** What one process tells about itself in a status answer. */
export const workerRow = {
  hostname: z.string(),
  workerId: z.string(),
  avgEventLoopLagMs: amount,
  maxEventLoopLagMs: amount,
  freeSlots: count,
  dbConnections: count,
  jobQueueSize: count,
  messagesProcessed: count,
} as const

const six = z.strictObject(sixCounters)
const perOperation = { push: amount, pop: amount, ack: amount } as const

const throughputPoint = z.strictObject({
  timestamp: time,
  ingested: count,
  processed: count,
  popMessages: count,
  ingestedPerSecond: amount,
  processedPerSecond: amount,
  popPerSecond: amount,
  avgLagMs: amount,
  maxLagMs: amount,
  avgEventLoopLagMs: amount,
  maxEventLoopLagMs: amount,
  minFreeSlots: count,
  dbErrors: count,
  ackFailed: count,
  dlqCount: count,
  queenCpuUserPct: amount,
  queenCpuSysPct: amount,
  queenRssMb: amount,
  dbPoolActive: count,
  dbPoolIdle: count,
  dbPoolSize: count,
})

/** The span of a series; both ends optional, the last hour when absent. */
export const spanQuery = { from: timeParam(), to: timeParam() } as const

/** GET /api/v1/status: the whole picture. Section 11.1. */
export const overallStatus = operation({
  method: 'GET',
  path: '/api/v1/status',
  query: z.object({
    ...spanQuery,
    queue: textParam(),
    namespace: textParam(),
    task: textParam(),
  }),
  answers: {
    200: {
      about: 'Throughput (newest first), queues, counters, leases, dead letters, workers, errors.',
      json: z.strictObject({
        ...seriesHead,
        throughput: z.array(throughputPoint),
        queues: z.array(
          z.strictObject({
            id: z.string(),
            name: z.string(),
            namespace: z.string(),
            task: z.string(),
            partitions: count,
            totalConsumed: count,
          }),
        ),
        messages: z.strictObject({
          ...sixCounters,
          requests: z.strictObject({ push: count, pop: count, ack: count }),
          batchEfficiency: z.strictObject(perOperation),
        }),
        leases: z.strictObject({
          active: count,
          partitionsWithLeases: count,
          totalBatchSize: count,
          totalAcked: count,
        }),
        deadLetterQueue: z.strictObject({
          totalMessages: count,
          affectedPartitions: count,
          topErrors: z.array(z.strictObject({ error: z.string(), count })),
        }),
        workers: z.array(z.strictObject(workerRow)),
        errors: z.strictObject({ dbErrors: count, ackFailed: count, dlqMessages: count }),
        statsAge: amount,
      }),
    },
  },
})

const queueRow = z.strictObject({
  id: z.string(),
  name: z.string(),
  namespace: z.string(),
  task: z.string(),
  createdAt: time,
  partitions: count,
  messages: z.strictObject({ total: count, pending: count, processing: count }),
})

/** GET /api/v1/status/queues: the queues as the resources list shows them, in pages. */
export const statusQueues = operation({
  method: 'GET',
  path: '/api/v1/status/queues',
  query: z.object({
    limit: integerParam(100, 0, MAX_PAGE),
    offset: integerParam(0, 0),
    namespace: textParam(),
    task: textParam(),
  }),
  answers: {
    200: {
      about: 'One page of queues, newest first.',
      json: z.strictObject({
        queues: z.array(queueRow),
        pagination: z.strictObject({ limit: count, offset: count, total: count }),
      }),
    },
  },
})

/** GET /api/v1/status/queues/:queue: one queue with its partitions. */
export const statusQueue = operation({
  method: 'GET',
  path: '/api/v1/status/queues/:queue',
  answers: {
    200: {
      about: 'The queue, its options and the counters of each partition.',
      json: z.strictObject({
        queue: z.strictObject({
          id: z.string(),
          name: z.string(),
          namespace: z.string(),
          task: z.string(),
          priority: z.number().int(),
          createdAt: time,
          config: z.strictObject({
            leaseTime: z.number().int(),
            retryLimit: z.number().int(),
            retryDelay: z.number().int(),
            ttl: z.number().int(),
            maxQueueSize: z.number().int(),
            deadLetterQueue: z.boolean(),
          }),
        }),
        partitions: z.array(
          z.strictObject({
            id: z.string(),
            name: z.string(),
            createdAt: time,
            messages: six,
            stats: six,
            cursor: z.strictObject({ totalConsumed: count, batchesConsumed: count }),
            lastActivity: time.nullable(),
            oldestMessage: time.nullable(),
            newestMessage: time.nullable(),
          }),
        ),
        totals: z.strictObject({ messages: six, ...sixCounters }),
      }),
    },
    404: fails('No such queue.'),
  },
})

/** GET /api/v1/status/analytics: how many messages came in per minute, hour or day. */
export const statusAnalytics = operation({
  method: 'GET',
  path: '/api/v1/status/analytics',
  query: z.object({ ...spanQuery, interval: wordParam(['minute', 'hour', 'day']) }),
  answers: {
    200: {
      about: 'Messages pushed in each interval, oldest first; the last 24 hours by default.',
      json: z.strictObject({
        dataPoints: z.array(z.strictObject({ timestamp: time, messages: count })),
        interval: z.enum(['minute', 'hour', 'day']),
        from: time,
        to: time,
      }),
    },
  },
})

/** GET /api/v1/status/buffers: what was answered `buffered` and is not stored yet. */
export const statusBuffers = operation({
  method: 'GET',
  path: '/api/v1/status/buffers',
  answers: {
    200: {
      about: 'How many pushes wait in the buffer, and in the files of this broker since an outage.',
      json: z.strictObject({
        pending: count,
        failed: count,
        dbHealthy: z.boolean(),
        worker: z.string(),
      }),
    },
  },
})
