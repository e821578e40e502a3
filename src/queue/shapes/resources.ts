import { z } from 'zod'
import { operation } from '../../http/operation.ts'
import { integerParam, textParam } from '../../http/query.ts'
import { amount, count, fails, pagination, sixCounters, time } from './values.ts'

const DEFAULT_PAGE = 100
const MAX_PAGE = 10_000

const threeCounters = { total: count, pending: count, processing: count } as const
const twoCounters = { total: count, pending: count } as const
const identity = {
  id: z.string(),
  name: z.string(),
  namespace: z.string(),
  task: z.string(),
  createdAt: time,
} as const

/** GET /api/v1/resources/queues. Section 9. */
export const listQueues = operation({
  method: 'GET',
  path: '/api/v1/resources/queues',
  query: z.object({ namespace: textParam(), task: textParam(), search: textParam() }),
  answers: {
    200: {
      about: 'Newest first.',
      json: z.strictObject({
        queues: z.array(
          z.strictObject({
            ...identity,
            partitions: count,
            messages: z.strictObject(threeCounters),
          }),
        ),
      }),
    },
  },
})

/** GET /api/v1/resources/queues/:queue. */
export const showQueue = operation({
  method: 'GET',
  path: '/api/v1/resources/queues/:queue',
  answers: {
    200: {
      about: 'The queue with its partitions and counters.',
      json: z.strictObject({
        ...identity,
        partitions: z.array(
          z.strictObject({
            id: z.string(),
            name: z.string(),
            createdAt: time,
            stats: z.strictObject(sixCounters),
            oldestMessage: time.nullable(),
            newestMessage: time.nullable(),
          }),
        ),
        totals: z.strictObject(sixCounters),
      }),
    },
    404: fails('The queue does not exist.'),
  },
})

/** GET /api/v1/resources/queues/:queue/depth. */
export const queueDepth = operation({
  method: 'GET',
  path: '/api/v1/resources/queues/:queue/depth',
  query: z.object({ group: textParam() }),
  answers: {
    200: {
      about: 'What one group has not consumed yet.',
      json: z.strictObject({ queue: z.string(), consumerGroup: z.string(), depth: count }),
    },
    404: fails('The queue does not exist.'),
  },
})

/** DELETE /api/v1/resources/queues/:queue. */
export const deleteQueue = operation({
  method: 'DELETE',
  path: '/api/v1/resources/queues/:queue',
  answers: {
    200: {
      about: 'An unknown queue is `deleted: false`.',
      json: z.union([
        z.strictObject({
          deleted: z.literal(true),
          queue: z.string(),
          existed: z.literal(true),
        }),
        z.strictObject({
          deleted: z.literal(false),
          existed: z.literal(false),
          queue: z.string(),
          message: z.string(),
        }),
      ]),
    },
  },
})

/** GET /api/v1/resources/namespaces. */
export const listNamespaces = operation({
  method: 'GET',
  path: '/api/v1/resources/namespaces',
  answers: {
    200: {
      about: 'Counters of each namespace.',
      json: z.strictObject({
        namespaces: z.array(
          z.strictObject({
            namespace: z.string(),
            queues: count,
            partitions: count,
            messages: z.strictObject(twoCounters),
          }),
        ),
      }),
    },
  },
})

/** GET /api/v1/resources/tasks. */
export const listTasks = operation({
  method: 'GET',
  path: '/api/v1/resources/tasks',
  answers: {
    200: {
      about: 'Counters of each task.',
      json: z.strictObject({
        tasks: z.array(
          z.strictObject({
            task: z.string(),
            queues: count,
            partitions: count,
            messages: z.strictObject(twoCounters),
          }),
        ),
      }),
    },
  },
})

const spread = z.strictObject({ avg: amount, median: amount, min: amount, max: amount })

/** GET /api/v1/resources/overview. */
export const overview = operation({
  method: 'GET',
  path: '/api/v1/resources/overview',
  answers: {
    200: {
      about: 'Totals of the broker.',
      json: z.strictObject({
        queues: count,
        partitions: count,
        namespaces: count,
        tasks: count,
        messages: z.strictObject(sixCounters),
        lag: z.strictObject({ time: spread, offset: spread }),
        throughput: z.strictObject({ ingestedPerSecond: amount, processedPerSecond: amount }),
        timestamp: time,
        statsAge: amount,
      }),
    },
  },
})

/** GET /api/v1/resources/partitions. */
export const listPartitions = operation({
  method: 'GET',
  path: '/api/v1/resources/partitions',
  query: z.object({
    queue: textParam(),
    limit: integerParam(DEFAULT_PAGE, 0, MAX_PAGE),
    offset: integerParam(0, 0),
  }),
  answers: {
    200: {
      about: 'Partitions of one queue or of all.',
      json: z.strictObject({
        partitions: z.array(
          z.strictObject({
            id: z.string(),
            name: z.string(),
            queue: z.string(),
            createdAt: time,
            messages: z.strictObject(threeCounters),
          }),
        ),
        total: count,
        pagination,
      }),
    },
  },
})

/** DELETE /api/v1/queues/:queue/clear. */
export const clearQueue = operation({
  method: 'DELETE',
  path: '/api/v1/queues/:queue/clear',
  query: z.object({ partition: textParam() }),
  answers: {
    200: {
      about: 'The messages are gone; queue, options, dead letters and subscriptions stay.',
      json: z.strictObject({
        success: z.literal(true),
        queue: z.string(),
        partition: z.string().nullable(),
        deleted: count,
      }),
    },
    404: fails('The queue or partition does not exist.'),
  },
})
