import { z } from 'zod'
import { operation } from '../../http/operation.ts'
import { nameField } from './fields.ts'
import { fails } from './values.ts'

/** Seconds up to this many are still exact in microseconds, the unit of the store. */
const MAX_WHOLE = 2_147_483_647

/** A whole number from `min` on; fractions are cut off. */
function whole(min: number) {
  return z.number().transform(Math.trunc).pipe(z.number().min(min).max(MAX_WHOLE)).nullish()
}

/** Seconds, milliseconds or counts: less than none means nothing. */
const amountOption = whole(0)
/** An order, or a value that is clamped: below zero has a meaning too. */
const wholeOption = whole(-MAX_WHOLE)
const flagOption = z.boolean().nullish()

/** The options of a queue as a request gives them; null means "back to the default". Section 5.1. */
export const queueOptionFields = {
  leaseTime: amountOption,
  retryLimit: amountOption,
  retryDelay: amountOption,
  priority: wholeOption,
  maxSize: amountOption,
  ttl: amountOption,
  deadLetterQueue: flagOption,
  dlqAfterMaxRetries: flagOption,
  delayedProcessing: amountOption,
  windowBuffer: amountOption,
  retentionSeconds: amountOption,
  completedRetentionSeconds: amountOption,
  retentionEnabled: flagOption,
  encryptionEnabled: flagOption,
  maxWaitTimeSeconds: amountOption,
  dedupWindowSeconds: amountOption,
  minPopWaitTime: wholeOption,
} as const

const wholeNumber = z.number().int()

/** The options of a queue as answers echo them, all of them. */
export const queueOptions = z.strictObject({
  leaseTime: wholeNumber,
  retryLimit: wholeNumber,
  retryDelay: wholeNumber,
  priority: wholeNumber,
  maxSize: wholeNumber,
  ttl: wholeNumber,
  deadLetterQueue: z.boolean(),
  dlqAfterMaxRetries: z.boolean(),
  delayedProcessing: wholeNumber,
  windowBuffer: wholeNumber,
  retentionSeconds: wholeNumber,
  completedRetentionSeconds: wholeNumber,
  retentionEnabled: z.boolean(),
  encryptionEnabled: z.boolean(),
  maxWaitTimeSeconds: wholeNumber,
  dedupWindowSeconds: wholeNumber,
  minPopWaitTime: wholeNumber,
})

/** POST /api/v1/configure. Section 5.1. */
export const configure = operation({
  method: 'POST',
  path: '/api/v1/configure',
  body: z.object({
    queue: nameField,
    namespace: nameField.nullish(),
    task: nameField.nullish(),
    mode: z.enum(['merge', 'replace']).optional(),
    options: z.object(queueOptionFields).nullish(),
    ...queueOptionFields,
  }),
  answers: {
    200: {
      about: 'The queue exists with these options.',
      json: z.strictObject({
        configured: z.literal(true),
        queueId: z.string(),
        partitionId: z.string(),
        queue: z.string(),
        namespace: z.string(),
        task: z.string(),
        options: queueOptions,
      }),
    },
    400: fails('`queue` is missing, or a member has the wrong type or is out of range.'),
  },
})
