import { z } from 'zod'
import { operation } from '../../http/operation.ts'
import { nameField, textField } from './fields.ts'
import { count, fails, json, time } from './values.ts'

/** Required text; the empty one counts as missing. */
const text = textField.min(1)

/** The body of POST /streams/v1/queries. Section 15.1. */
export const registerBody = z.object({
  name: text,
  source_queue: text,
  config_hash: text,
  reset: z.boolean().nullish(),
  sink_queue: textField.nullish(),
})

/** POST /streams/v1/queries: a stream query makes itself known. */
export const registerQuery = operation({
  method: 'POST',
  path: '/streams/v1/queries',
  body: registerBody,
  answers: {
    200: {
      about: 'The query is registered; `fresh` for a new name, `reset` when its state was deleted.',
      json: z.strictObject({
        success: z.literal(true),
        query_id: z.string(),
        name: z.string(),
        fresh: z.boolean(),
        reset: z.boolean(),
      }),
    },
    400: fails('A required member is missing or of another type.'),
    409: {
      about: 'The name is registered with another config hash, and no reset was asked for.',
      json: z.strictObject({
        success: z.literal(false),
        query_id: z.string(),
        name: z.string(),
        error: z.string(),
      }),
    },
  },
})

/** The body of POST /streams/v1/state/get; the filters are ANDed. Section 15.2. */
export const stateBody = z.object({
  query_id: text,
  partition_id: text,
  keys: z.array(textField).nullish(),
  key_prefix: textField.nullish(),
  ripe_at_or_before: z.number().nullish(),
})

/** POST /streams/v1/state/get: state rows of one query on one partition, ordered by key. */
export const getState = operation({
  method: 'POST',
  path: '/streams/v1/state/get',
  body: stateBody,
  answers: {
    200: {
      about: 'The matching rows; nothing stored gives an empty list.',
      json: z.strictObject({
        success: z.literal(true),
        rows: z.array(z.strictObject({ key: z.string(), value: json, updated_at: time })),
      }),
    },
    400: fails('An id is missing or a filter is of another type.'),
  },
})

/**
 * The body of POST /streams/v1/cycle. Only its form is checked here: a state operation of an unknown
 * type and a push without a queue are faults of the cycle and come back under 200 (section 15.3).
 */
export const cycleBody = z.object({
  query_id: text,
  partition_id: text,
  consumer_group: nameField.nullish(),
  state_ops: z.array(z.looseObject({ type: z.string(), key: textField, value: json })).nullish(),
  push_items: z.array(z.record(z.string(), json)).nullish(),
  ack: z
    .object({
      transactionId: text,
      leaseId: textField.nullish(),
      status: z.string().nullish(),
      count: z.number().nullish(),
      error: z.string().nullish(),
    })
    .nullish(),
  release_lease: z.boolean().nullish(),
})

const pushResult = z.strictObject({
  index: count,
  transaction_id: z.string(),
  message_id: z.string(),
  status: z.enum(['queued', 'duplicate']),
  partition_id: z.string(),
  trace_id: z.string().nullable().optional(),
  queueName: z.string(),
})

const cycleResult = {
  query_id: z.string(),
  partition_id: z.string(),
  queueName: z.string().nullable(),
  state_ops_applied: count,
  push_results: z.array(pushResult),
  ack_result: z
    .strictObject({
      success: z.literal(true),
      count,
      lease_released: z.boolean(),
      dlq: z.boolean(),
    })
    .nullable(),
} as const

/** POST /streams/v1/cycle: state, sink pushes and source ack in one atomic step. */
export const runCycle = operation({
  method: 'POST',
  path: '/streams/v1/cycle',
  body: cycleBody,
  answers: {
    200: {
      about: 'The step is committed, or `success` is false and nothing of it remains.',
      json: z.discriminatedUnion('success', [
        z.strictObject({ success: z.literal(true), ...cycleResult }),
        z.strictObject({ success: z.literal(false), ...cycleResult, error: z.string() }),
      ]),
    },
    400: fails('An id is missing or a member is of another type.'),
  },
})
