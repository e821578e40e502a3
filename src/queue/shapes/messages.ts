import { z } from 'zod'
import { operation } from '../../http/operation.ts'
import { integerParam, textParam, timeParam, wordParam } from '../../http/query.ts'
import { count, fails, json, time } from './values.ts'

/** What has become of a message; section 10.1 gives the order in which these are tested. */
export const MESSAGE_STATUSES = ['pending', 'processing', 'completed', 'dead_letter'] as const

/** One of the four states of a stored message. */
export type MessageStatus = (typeof MESSAGE_STATUSES)[number]

const status = z.enum(MESSAGE_STATUSES)

const mode = {
  hasQueueMode: z.boolean(),
  busGroupsCount: count,
  type: z.enum(['bus', 'queue', 'hybrid', 'none']),
} as const

const listed = {
  id: z.string(),
  transactionId: z.string(),
  partitionId: z.string(),
  queuePath: z.string(),
  queue: z.string(),
  partition: z.string(),
  namespace: z.string(),
  task: z.string(),
  status,
  queueStatus: status,
  busStatus: z.strictObject({ consumedBy: count, totalGroups: count }),
  traceId: z.string().nullable(),
  producerSub: z.string().nullable(),
  queuePriority: z.number().int(),
  createdAt: time,
  leaseExpiresAt: time.nullable(),
  data: json,
  payload: json,
  isEncrypted: z.boolean(),
} as const

/** One message as the list shows it. */
export const listedMessage = z.strictObject(listed)

/** The longest page of a list; more rows are fetched with `offset`. */
export const MAX_PAGE = 10_000

/** GET /api/v1/messages: stored messages, newest first. Section 10.1. */
export const listMessages = operation({
  method: 'GET',
  path: '/api/v1/messages',
  query: z.object({
    queue: textParam(),
    partition: textParam(),
    task: textParam(),
    ns: textParam(),
    namespace: textParam(),
    status: wordParam(MESSAGE_STATUSES),
    from: timeParam(),
    to: timeParam(),
    limit: integerParam(200, 0, MAX_PAGE),
    offset: integerParam(0, 0),
  }),
  answers: {
    200: {
      about: 'The messages of the page, newest first, and how many match in all.',
      json: z.strictObject({
        messages: z.array(listedMessage),
        mode: z.strictObject(mode),
        total: count,
      }),
    },
  },
})

/** GET /api/v1/messages/:partitionId/:transactionId: one message in full. Section 10.2. */
export const showMessage = operation({
  method: 'GET',
  path: '/api/v1/messages/:partitionId/:transactionId',
  answers: {
    200: {
      about: 'The message, its payload and how far each group is.',
      json: z.strictObject({
        ...listed,
        errorMessage: z.string().nullable(),
        retryCount: count,
        queueConfig: z.strictObject({
          leaseTime: z.number().int(),
          retryLimit: z.number().int(),
          retryDelay: z.number().int(),
          ttl: z.number().int(),
          priority: z.number().int(),
        }),
        mode: z.strictObject({ ...mode, consumedByGroups: count }),
        consumerGroups: z.array(
          z.strictObject({
            name: z.string(),
            consumed: z.boolean(),
            leaseExpiresAt: time.nullable(),
          }),
        ),
      }),
    },
    404: fails('No such message.'),
  },
})

/** DELETE /api/v1/messages/:partitionId/:transactionId: removes it and its dead letters. Section 10.3. */
export const deleteMessage = operation({
  method: 'DELETE',
  path: '/api/v1/messages/:partitionId/:transactionId',
  answers: {
    200: {
      about: 'The message is gone; order and cursors of the others are untouched.',
      json: z.strictObject({
        success: z.literal(true),
        partitionId: z.string(),
        transactionId: z.string(),
        message: z.string(),
      }),
    },
    404: fails('No such message.'),
  },
})

/** GET /api/v1/status/queues/:queue/messages: a bare list, as older servers gave it. Section 11. */
export const queueMessages = operation({
  method: 'GET',
  path: '/api/v1/status/queues/:queue/messages',
  query: z.object({ limit: integerParam(50, 0, MAX_PAGE), offset: integerParam(0, 0) }),
  answers: {
    200: {
      about: 'The messages of the queue, newest first.',
      json: z.array(
        z.strictObject({
          id: z.string(),
          transactionId: z.string(),
          partitionId: z.string(),
          queuePath: z.string(),
          queue: z.string(),
          partition: z.string(),
          status,
          createdAt: time,
        }),
      ),
    },
    404: fails('No such queue.'),
  },
})
