import { z } from 'zod'
import { operation } from '../../http/operation.ts'
import { ackItem } from './ack.ts'
import { nameField, textField } from './fields.ts'
import { pushItem } from './push.ts'
import { count, json } from './values.ts'

/** A push of several items. Section 6.4. */
export const pushOperation = z.object({ type: z.literal('push'), items: z.array(pushItem) })

/** A push of one item, written flat: the older form. */
export const flatPushOperation = pushItem.extend({ type: z.literal('push') })

/** An acknowledgement inside a transaction; it names its own group. */
export const ackOperation = ackItem.extend({
  type: z.literal('ack'),
  consumerGroup: nameField.nullish(),
})

const requiredLeases = z.array(textField).nullish()

/** The body before its operations are read one by one, so that a refusal names the one that is wrong. */
export const transactionFrame = z.object({ operations: z.array(json).min(1), requiredLeases })

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
    operations: z.array(z.union([pushOperation, flatPushOperation, ackOperation])).min(1),
    requiredLeases,
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
