import { z } from 'zod'
import { operation } from '../../http/operation.ts'
import { integerParam, timeParam } from '../../http/query.ts'
import { nameField, textField } from './fields.ts'
import { MAX_PAGE } from './messages.ts'
import { count, fails, json, pagination, time } from './values.ts'

/** Names of one trace event beyond this number are refused: each costs an index row. */
const MAX_TRACE_NAMES = 100

const text = textField.min(1)

/** The body of POST /api/v1/traces. Section 10.4; `null` stands for "not given" everywhere. */
export const traceBody = z.object({
  transactionId: text,
  partitionId: text,
  data: json.refine((value) => value !== undefined, 'data is required'),
  consumerGroup: nameField.nullish(),
  traceNames: z
    .union([textField.transform((name) => [name]), z.array(textField).max(MAX_TRACE_NAMES)])
    .nullish()
    .transform((names) => [...new Set(names ?? [])].filter((name) => name !== '')),
  eventType: textField.nullish(),
  workerId: textField.nullish(),
})

const event = {
  id: z.string(),
  event_type: z.string(),
  data: json,
  consumer_group: z.string(),
  worker_id: z.string().nullable(),
  created_at: time,
  trace_names: z.array(z.string()),
} as const

/** POST /api/v1/traces: one event in the life of a message. */
export const addTrace = operation({
  method: 'POST',
  path: '/api/v1/traces',
  body: traceBody,
  answers: {
    201: {
      about: 'The event is stored.',
      json: z.strictObject({ success: z.literal(true), traceId: z.string() }),
    },
    400: fails('A required member is missing or of another type.'),
    404: fails('No such message.'),
  },
})

/** GET /api/v1/traces/names: every name in use. */
export const traceNames = operation({
  method: 'GET',
  path: '/api/v1/traces/names',
  query: z.object({ limit: integerParam(50, 0, MAX_PAGE), offset: integerParam(0, 0) }),
  answers: {
    200: {
      about: 'Names, the most recently seen first.',
      json: z.strictObject({
        trace_names: z.array(
          z.strictObject({
            trace_name: z.string(),
            trace_count: count,
            message_count: count,
            last_seen: time,
          }),
        ),
        total: count,
        pagination,
      }),
    },
  },
})

/** GET /api/v1/traces/by-name/:traceName: the events under one name, newest first. */
export const tracesByName = operation({
  method: 'GET',
  path: '/api/v1/traces/by-name/:traceName',
  query: z.object({
    limit: integerParam(100, 0, MAX_PAGE),
    offset: integerParam(0, 0),
    from: timeParam(),
    to: timeParam(),
  }),
  answers: {
    200: {
      about: 'Events with the message each belongs to; an unknown name gives an empty list.',
      json: z.strictObject({
        traces: z.array(
          z.strictObject({
            ...event,
            transaction_id: z.string(),
            partition_id: z.string(),
            queue_name: z.string().nullable(),
            partition_name: z.string().nullable(),
            message_payload: json,
          }),
        ),
        total: count,
        pagination,
      }),
    },
  },
})

/** GET /api/v1/traces/:partitionId/:transactionId: the events of one message, oldest first. */
export const messageTraces = operation({
  method: 'GET',
  path: '/api/v1/traces/:partitionId/:transactionId',
  answers: {
    200: {
      about: 'Events of the message; an unknown message gives an empty list.',
      json: z.strictObject({ traces: z.array(z.strictObject(event)) }),
    },
  },
})
