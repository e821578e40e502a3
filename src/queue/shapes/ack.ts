import { z } from 'zod'
import { operation } from '../../http/operation.ts'
import { storableText } from '../model.ts'
import { nameField, textField } from './fields.ts'
import { count, fails, json } from './values.ts'

/** The text kept for a dead letter; a client that sends an object means its JSON. */
const errorField = json.optional().transform((value) => {
  if (value === undefined || value === null) return null
  return storableText(typeof value === 'string' ? value : JSON.stringify(value))
})

/** One acknowledgement. Section 6.1. */
export const ackItem = z.object({
  transactionId: textField,
  partitionId: textField,
  status: z
    .string()
    .nullish()
    .describe(
      'completed (also success, acked, ok, or none), failed, retry or dlq; any other text counts as failed',
    ),
  error: errorField,
  leaseId: textField.nullish(),
})

/** One acknowledgement as it was sent. */
export type AckItemBody = z.output<typeof ackItem>

const groupField = nameField.nullish()

const results = z.array(
  z.strictObject({
    index: count,
    transactionId: z.string(),
    success: z.boolean(),
    error: z.string().nullable(),
    leaseReleased: z.boolean(),
    dlq: z.boolean(),
    noop: z.literal(true).optional(),
    queueName: z.string().nullable(),
    partitionName: z.string().nullable(),
  }),
)

const answers = {
  200: { about: 'One entry per acknowledgement, in order; failures stand inside.', json: results },
  400: fails('A transaction id or partition id is missing; nothing was applied.'),
} as const

/** POST /api/v1/ack. */
export const ackOne = operation({
  method: 'POST',
  path: '/api/v1/ack',
  body: ackItem.extend({ consumerGroup: groupField }),
  answers,
})

/** POST /api/v1/ack/batch: the group on top rules for all entries. */
export const ackBatch = operation({
  method: 'POST',
  path: '/api/v1/ack/batch',
  body: z.object({ acknowledgments: z.array(ackItem), consumerGroup: groupField }),
  answers,
})
