import { z } from 'zod'
import { operation } from '../../http/operation.ts'
import { count, fails, json } from './values.ts'

const text = z.string().optional()

/** What a pop may be told. Unreadable values take their defaults and are never an error. Section 5.3. */
export const popQuery = z.object({
  batch: text.meta({ type: 'integer', minimum: 1, description: 'Most messages in the reply' }),
  wait: text.meta({ type: 'boolean', description: 'Wait until something can be delivered' }),
  timeout: text.meta({ type: 'integer', minimum: 0, description: 'Longest wait in ms' }),
  consumerGroup: text,
  autoAck: text.meta({ type: 'boolean', description: 'Consume at delivery, without a lease' }),
  partitions: text.meta({ type: 'integer', description: 'Most partitions to take' }),
  subscriptionMode: text,
  subscriptionFrom: text,
  namespace: text,
  task: text,
  leaseSeconds: text.meta({ type: 'integer', description: 'Length of the lease in seconds' }),
})

/** One delivered message. */
export const poppedMessage = z.strictObject({
  id: z.string(),
  transactionId: z.string(),
  traceId: z.string().nullable(),
  data: json,
  producerSub: z.string().nullable(),
  createdAt: z.iso.datetime({ precision: 6 }),
  partitionId: z.string(),
  partition: z.string(),
  leaseId: z.string(),
  consumerGroup: z.string(),
  queue: z.string(),
  retryCount: count,
})

const answers = {
  200: {
    about: 'Messages under one lease.',
    json: z.strictObject({
      success: z.literal(true),
      queue: z.string(),
      partition: z.string(),
      partitionId: z.string(),
      leaseId: z.string(),
      consumerGroup: z.string(),
      partitionsClaimed: count,
      messages: z.array(poppedMessage),
    }),
  },
  204: { about: 'Nothing to deliver.' },
  400: fails('The name of a queue, partition or group is too long.'),
} as const

/** GET /api/v1/pop/queue/:queue/partition/:partition. */
export const popPartition = operation({
  method: 'GET',
  path: '/api/v1/pop/queue/:queue/partition/:partition',
  query: popQuery,
  answers,
})

/** GET /api/v1/pop/queue/:queue: any partition of the queue. */
export const popQueue = operation({
  method: 'GET',
  path: '/api/v1/pop/queue/:queue',
  query: popQuery,
  answers,
})

/** GET /api/v1/pop: queues chosen by namespace and task. */
export const popMatching = operation({
  method: 'GET',
  path: '/api/v1/pop',
  query: popQuery,
  answers: { ...answers, 400: fails('Neither `namespace` nor `task` is given.') },
})
