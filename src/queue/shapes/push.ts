import { z } from 'zod'
import { operation } from '../../http/operation.ts'
import { nameField, textField } from './fields.ts'
import { count, fails, json } from './values.ts'

/** Only used when the push creates the queue; of a wrong type they count as absent. */
const placeField = nameField.optional().catch(undefined)

/** One message of a push. `producerSub` and unknown members are ignored on purpose. Section 5.2. */
export const pushItem = z.object({
  queue: nameField,
  partition: nameField.optional(),
  payload: json.optional(),
  data: json.optional(),
  transactionId: textField.optional(),
  traceId: textField.optional(),
  namespace: placeField,
  task: placeField,
})

/** One message of a push as it was sent. */
export type PushItemBody = z.output<typeof pushItem>

const stored = {
  index: count,
  transaction_id: z.string(),
  message_id: z.string(),
  queueName: z.string(),
} as const

const queued = z.strictObject({
  ...stored,
  status: z.literal('queued'),
  partition_id: z.string(),
  trace_id: z.string().nullable(),
})
const duplicate = z.strictObject({
  ...stored,
  status: z.literal('duplicate'),
  partition_id: z.string(),
})
const failed = z.strictObject({ ...stored, status: z.literal('failed'), error: z.string() })
const buffered = z.strictObject({
  ...stored,
  status: z.literal('buffered'),
  queue: z.string(),
  partition: z.string(),
  transactionId: z.string(),
})

/** POST /api/v1/push. Section 5.2. */
export const push = operation({
  method: 'POST',
  path: '/api/v1/push',
  body: z.object({ items: z.array(pushItem) }),
  answers: {
    201: {
      about: 'One entry per item, in order.',
      json: z.array(z.discriminatedUnion('status', [queued, duplicate, failed, buffered])),
    },
    400: fails('The body is missing or malformed; nothing was stored.'),
  },
})
