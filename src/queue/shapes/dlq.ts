import { z } from 'zod'
import { operation } from '../../http/operation.ts'
import { integerParam, textParam, timeParam } from '../../http/query.ts'
import { storableText } from '../model.ts'
import { nameField } from './fields.ts'
import { count, fails, json, pagination, time } from './values.ts'

const DEFAULT_PAGE = 100
const MAX_PAGE = 10_000

/** GET /api/v1/dlq. Section 8.1. */
export const listDeadLetters = operation({
  method: 'GET',
  path: '/api/v1/dlq',
  query: z.object({
    queue: textParam(),
    consumerGroup: textParam(),
    partition: textParam(),
    from: timeParam(),
    to: timeParam(),
    limit: integerParam(DEFAULT_PAGE, 0, MAX_PAGE),
    offset: integerParam(0, 0),
  }),
  answers: {
    200: {
      about: 'Newest first; `total` counts all rows that match.',
      json: z.strictObject({
        messages: z.array(
          z.strictObject({
            id: z.string(),
            messageId: z.string(),
            transactionId: z.string(),
            partitionId: z.string(),
            queue: z.string(),
            partition: z.string(),
            consumerGroup: z.string(),
            errorMessage: z.string().nullable(),
            retryCount: count,
            data: json,
            producerSub: z.string().nullable(),
            createdAt: time,
            failedAt: time,
            isEncrypted: z.boolean(),
          }),
        ),
        total: count,
        pagination,
      }),
    },
  },
})

/** DELETE /api/v1/dlq. Section 8.2. */
export const clearDeadLetters = operation({
  method: 'DELETE',
  path: '/api/v1/dlq',
  query: z.object({ queue: textParam(), consumerGroup: textParam() }),
  answers: {
    200: {
      about: 'The rows are gone.',
      json: z.strictObject({
        success: z.literal(true),
        deleted: count,
        queue: z.string(),
        consumerGroup: z.string().nullable(),
      }),
    },
    400: fails('`queue` is missing.'),
  },
})

/** Where a replay goes; by default to its origin. */
const target = nameField.refine((text) => text.trim() !== '', 'must not be blank').optional()

const replayed = z.strictObject({
  success: z.literal(true),
  result: z.enum(['moved', 'duplicate']),
  queue: z.string(),
  partition: z.string(),
  consumerGroup: z.string(),
  dlqId: z.string(),
  originalTransactionId: z.string(),
  replayedAs: z.strictObject({
    index: z.literal(0),
    message_id: z.string(),
    transaction_id: z.string(),
    queueName: z.string(),
    status: z.enum(['queued', 'duplicate']),
  }),
  dlqRowRemoved: z.boolean(),
})

const gone = z.strictObject({
  success: z.literal(false),
  result: z.literal('gone'),
  dlqId: z.string(),
  error: z.string(),
  message: z.string(),
})

const replayAnswers = {
  200: { about: 'Pushed under a fixed id, so that a repeat is a duplicate.', json: replayed },
  400: fails('A target is blank or not a string.'),
  404: { about: 'No such row.', json: gone },
  503: fails('Pushes are diverted into the maintenance buffer.'),
} as const

const replayBody = z.object({ queue: target, partition: target })

/** POST /api/v1/dlq/:id/replay. Section 8.3. */
export const replayDeadLetter = operation({
  method: 'POST',
  path: '/api/v1/dlq/:id/replay',
  body: replayBody,
  bodyOptional: true,
  answers: replayAnswers,
})

/** POST /api/v1/messages/:partitionId/:transactionId/retry. Section 8.4. */
export const retryMessage = operation({
  method: 'POST',
  path: '/api/v1/messages/:partitionId/:transactionId/retry',
  body: replayBody,
  bodyOptional: true,
  answers: { ...replayAnswers, 404: fails('No dead letter of that message.') },
})

/** POST /api/v1/messages/:partitionId/:transactionId/dlq. Section 8.5. */
export const buryMessage = operation({
  method: 'POST',
  path: '/api/v1/messages/:partitionId/:transactionId/dlq',
  body: z.object({
    consumerGroup: nameField.nullish(),
    error: z.string().transform(storableText).nullish(),
  }),
  bodyOptional: true,
  answers: {
    200: {
      about: 'Filed, and skipped by that group.',
      json: z.strictObject({
        success: z.literal(true),
        partitionId: z.string(),
        transactionId: z.string(),
        consumerGroup: z.string(),
        dlqId: z.string(),
      }),
    },
    404: fails('No such message.'),
    409: fails('The message is not the next one of that group.'),
  },
})
