import { z } from 'zod'
import { operation } from '../../http/operation.ts'
import { flagParam, integerParam } from '../../http/query.ts'
import { amount, count, fails, time } from './values.ts'

/** GET /api/v1/consumer-groups. Section 7.2. */
export const listGroups = operation({
  method: 'GET',
  path: '/api/v1/consumer-groups',
  answers: {
    200: {
      about: 'One entry per group and queue.',
      json: z.array(
        z.strictObject({
          name: z.string(),
          topics: z.array(z.string()),
          queueName: z.string(),
          members: count,
          partitionsWithLag: count,
          totalLag: count.nullable(),
          maxTimeLag: amount,
          state: z.enum(['Stable', 'Lagging', 'Dead']),
          subscriptionMode: z.string().nullable(),
          subscriptionTimestamp: time.nullable(),
          subscriptionCreatedAt: time.nullable(),
        }),
      ),
    },
  },
})

const DEFAULT_LAG_S = 3600

/** GET /api/v1/consumer-groups/lagging. Section 7.3. */
export const laggingGroups = operation({
  method: 'GET',
  path: '/api/v1/consumer-groups/lagging',
  query: z.object({ minLagSeconds: integerParam(DEFAULT_LAG_S, 0) }),
  answers: {
    200: {
      about: 'Partitions whose group lags more than that, the largest lag first.',
      json: z.array(
        z.strictObject({
          consumer_group: z.string(),
          queue_name: z.string(),
          partition_name: z.string(),
          partition_id: z.string(),
          worker_id: z.string().nullable(),
          offset_lag: count,
          time_lag_seconds: amount,
          lag_hours: amount,
          oldest_unconsumed_at: time.nullable(),
          last_consumed_at: time.nullable(),
        }),
      ),
    },
  },
})

/** GET /api/v1/consumer-groups/:group. Section 7.4. */
export const showGroup = operation({
  method: 'GET',
  path: '/api/v1/consumer-groups/:group',
  answers: {
    200: {
      about: 'Keyed by queue; an unknown group is an empty object.',
      json: z.record(
        z.string(),
        z.strictObject({
          partitions: z.array(
            z.strictObject({
              partition: z.string(),
              workerId: z.string().nullable(),
              lastConsumedAt: time.nullable(),
              totalConsumed: count,
              offsetLag: count,
              timeLagSeconds: amount,
              leaseActive: z.boolean(),
            }),
          ),
        }),
      ),
    },
  },
})

const deleteQuery = z.object({ deleteMetadata: flagParam(true) })
const deleted = {
  success: z.literal(true),
  consumerGroup: z.string(),
  deletedPartitions: count,
  metadataDeleted: z.boolean(),
} as const

/** DELETE /api/v1/consumer-groups/:group. Section 7.5. */
export const deleteGroup = operation({
  method: 'DELETE',
  path: '/api/v1/consumer-groups/:group',
  query: deleteQuery,
  answers: { 200: { about: 'Also for an unknown group.', json: z.strictObject(deleted) } },
})

/** DELETE /api/v1/consumer-groups/:group/queues/:queue. */
export const deleteGroupOfQueue = operation({
  method: 'DELETE',
  path: '/api/v1/consumer-groups/:group/queues/:queue',
  query: deleteQuery,
  answers: {
    200: {
      about: 'Also for an unknown group or queue.',
      json: z.strictObject({ ...deleted, queueName: z.string() }),
    },
  },
})

/** POST /api/v1/consumer-groups/:group/subscription. Section 7.6. */
export const moveSubscription = operation({
  method: 'POST',
  path: '/api/v1/consumer-groups/:group/subscription',
  body: z.object({ subscriptionTimestamp: z.string() }),
  answers: {
    200: {
      about: 'The stored start on all queues of the group.',
      json: z.strictObject({
        success: z.literal(true),
        consumerGroup: z.string(),
        newTimestamp: time,
        rowsUpdated: count,
      }),
    },
    400: fails('`subscriptionTimestamp` is missing or unreadable.'),
  },
})

/** Where to seek: to the end or to a point in time, not both. */
const seekBody = z.object({ toEnd: z.boolean().nullish(), timestamp: z.string().nullish() })
const badSeek = fails('Neither or both of `toEnd` and `timestamp`, or an unreadable one.')

/** POST /api/v1/consumer-groups/:group/queues/:queue/seek. Section 7.7. */
export const seekQueue = operation({
  method: 'POST',
  path: '/api/v1/consumer-groups/:group/queues/:queue/seek',
  body: seekBody,
  answers: {
    200: {
      about: 'Every partition of the queue was moved.',
      json: z.strictObject({
        success: z.literal(true),
        consumerGroup: z.string(),
        queueName: z.string(),
        seekToEnd: z.boolean(),
        targetTimestamp: time.nullable(),
        partitionsUpdated: count,
      }),
    },
    400: badSeek,
    404: fails('The queue does not exist.'),
  },
})

/** POST /api/v1/consumer-groups/:group/queues/:queue/partitions/:partition/seek. Section 7.8. */
export const seekPartition = operation({
  method: 'POST',
  path: '/api/v1/consumer-groups/:group/queues/:queue/partitions/:partition/seek',
  body: seekBody,
  bodyOptional: true,
  answers: {
    200: {
      about: 'An empty body means to the end.',
      json: z.strictObject({
        success: z.literal(true),
        consumerGroup: z.string(),
        queueName: z.string(),
        partitionName: z.string(),
        updated: z.boolean(),
        cursorMovedTo: z.string().nullable(),
      }),
    },
    400: badSeek,
    404: fails('The queue or partition does not exist.'),
  },
})
