import { z } from 'zod'
import { operation } from '../../http/operation.ts'
import { nameField, textField } from '../names.ts'
import { ackItem } from './ack.ts'
import { pushItem } from './push.ts'
import { count } from './values.ts'

/** A push: either `items`, or one item written flat. Section 6.4. */
const pushOperation = z.union([
  z.object({ type: z.literal('push'), items: z.array(pushItem) }),
  pushItem.extend({ type: z.literal('push') }),
])

const ackOperation = ackItem.extend({ type: z.literal('ack'), consumerGroup: nameField.nullish() })

const numbered = { index: count, success: z.literal(true), transactionId: z.string() } as const

const pushed = z.strictObject({
  ...numbered,
  type: z.literal('push'),
  messageId: z.string(),
  partitionId: z.string(),
  queueName: z.string(),
  duplicate: z.literal(true).optional(),
})

const acked = z.strictObject({
  ...numbered,
  type: z.literal('ack'),
  error: z.null(),
  dlq: z.boolean(),
})

const refused = z.strictObject({
  transactionId: z.string(),
  success: z.literal(false),
  error: z.string(),
  results: z.array(z.never()),
})

/** POST /api/v1/transaction. */
export const transaction = operation({
  method: 'POST',
  path: '/api/v1/transaction',
  body: z.object({
    operations: z.array(z.union([pushOperation, ackOperation])).min(1),
    requiredLeases: z.array(textField).nullish(),
  }),
  answers: {
    200: {
      about: 'All of it, or with `success: false` nothing of it.',
      json: z.union([
        z.strictObject({
          transactionId: z.string(),
          success: z.literal(true),
          results: z.array(z.discriminatedUnion('type', [pushed, acked])),
        }),
        refused,
      ]),
    },
    400: { about: 'The operations are missing or malformed.', json: refused },
  },
})
