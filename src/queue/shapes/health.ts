import { z } from 'zod'
import { operation } from '../../http/operation.ts'

const head = {
  server: z.string(),
  version: z.string(),
  worker_id: z.string(),
  engine: z.string(),
  /** The event hub; present when the broker serves one. */
  hub: z
    .strictObject({
      enabled: z.boolean(),
      status: z.string(),
      subscribers: z.number().int(),
      debugger: z.boolean(),
    })
    .optional(),
}

/** GET /health. Section 9. */
export const health = operation({
  method: 'GET',
  path: '/health',
  answers: {
    200: {
      about: 'The store answers.',
      json: z.strictObject({
        status: z.literal('healthy'),
        database: z.literal('connected'),
        ...head,
      }),
    },
    503: {
      about: 'The store does not answer.',
      json: z.strictObject({
        status: z.literal('unhealthy'),
        database: z.literal('disconnected'),
        ...head,
      }),
    },
  },
})

/** GET /status. */
export const status = operation({
  method: 'GET',
  path: '/status',
  answers: {
    200: {
      about: 'The broker runs.',
      json: z.strictObject({ status: z.literal('ok'), engine: z.string() }),
    },
  },
})
