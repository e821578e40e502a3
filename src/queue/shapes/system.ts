import { z } from 'zod'
import { operation } from '../../http/operation.ts'
import { amount, count, fails, json } from './values.ts'

/** The body that throws a maintenance switch. Section 13.1. */
export const switchBody = z.object({ enabled: z.boolean() })

const buffer = {
  maintenanceMode: z.boolean(),
  bufferedMessages: count,
  bufferHealthy: z.boolean(),
} as const

const notBoolean = fails('`enabled` is missing or not a boolean.')

/** GET /api/v1/system/maintenance: both switches and the buffer. */
export const showMaintenance = operation({
  method: 'GET',
  path: '/api/v1/system/maintenance',
  answers: {
    200: {
      about:
        'Whether pushes are diverted and pops paused, and how much waits in the buffer and in the files of this broker.',
      json: z.strictObject({
        ...buffer,
        popMaintenanceMode: z.boolean(),
        bufferStats: z.strictObject({
          pending: count,
          failed: count,
          oldestBufferedAt: z.string().nullable(),
        }),
      }),
    },
  },
})

/** POST /api/v1/system/maintenance: diverts pushes into the buffer, or ends that. */
export const setMaintenance = operation({
  method: 'POST',
  path: '/api/v1/system/maintenance',
  body: switchBody,
  answers: {
    200: {
      about: 'The switch is stored. Turning it off returns at once; the buffer drains behind it.',
      json: z.strictObject({ ...buffer, message: z.string() }),
    },
    400: notBoolean,
  },
})

const popMaintenance = z.strictObject({ popMaintenanceMode: z.boolean(), message: z.string() })

/** GET /api/v1/system/maintenance/pop: whether pops are paused. Section 13.2. */
export const showPopMaintenance = operation({
  method: 'GET',
  path: '/api/v1/system/maintenance/pop',
  answers: { 200: { about: 'The state of the switch.', json: popMaintenance } },
})

/** POST /api/v1/system/maintenance/pop: pauses every pop, or ends that. */
export const setPopMaintenance = operation({
  method: 'POST',
  path: '/api/v1/system/maintenance/pop',
  body: switchBody,
  answers: {
    200: { about: 'The switch is stored; waiting pops were let go.', json: popMaintenance },
    400: notBoolean,
  },
})

const sharedStateBody = z.strictObject({
  enabled: z.literal(false),
  reason: z.string(),
  maintenance_mode: z.boolean(),
  pop_maintenance_mode: z.boolean(),
})

const about = 'State shared between processes; a single node shares none.'

/** GET /api/v1/system/shared-state. Section 13.3. */
export const sharedState = operation({
  method: 'GET',
  path: '/api/v1/system/shared-state',
  answers: { 200: { about, json: sharedStateBody } },
})

/** GET /internal/api/shared-state/stats: the same under its internal name. */
export const sharedStateStats = operation({
  method: 'GET',
  path: '/internal/api/shared-state/stats',
  answers: { 200: { about, json: sharedStateBody } },
})

/** GET /internal/api/inter-instance/stats: messages between processes; a single node sends none. */
export const interInstanceStats = operation({
  method: 'GET',
  path: '/internal/api/inter-instance/stats',
  answers: {
    200: {
      about: 'Traffic between processes.',
      json: z.strictObject({ enabled: z.literal(false), reason: z.string() }),
    },
  },
})

/** The body of POST /internal/api/notify. */
export const notifyBody = z.object({ queue: z.string().min(1), partition: z.string().nullish() })

/** POST /internal/api/notify: wakes the waiting pops of a queue. */
export const notifyQueue = operation({
  method: 'POST',
  path: '/internal/api/notify',
  body: notifyBody,
  answers: {
    200: {
      about: 'The waiting pops were woken.',
      json: z.strictObject({ status: z.literal('ok') }),
    },
    400: fails('`queue` is missing.'),
  },
})

/** POST /api/v1/stats/refresh: recomputes what is cached. Section 11. */
export const refreshStats = operation({
  method: 'POST',
  path: '/api/v1/stats/refresh',
  body: json,
  bodyOptional: true,
  answers: {
    200: {
      about: 'How many rows of each kind were recomputed.',
      json: z.strictObject({
        partition: count,
        queue: count,
        namespace: count,
        task: count,
        system: count,
        cleanup: count,
      }),
    },
  },
})

/** GET /metrics: a small JSON picture of the process. Section 12. */
export const jsonMetrics = operation({
  method: 'GET',
  path: '/metrics',
  answers: {
    200: {
      about: 'Uptime in seconds, requests, messages, memory in bytes, CPU in µs.',
      json: z.strictObject({
        uptime: amount,
        requests: z.strictObject({ total: count, rate: amount }),
        messages: z.strictObject({ total: count, rate: amount }),
        database: z.strictObject({
          poolSize: count,
          idleConnections: count,
          waitingRequests: count,
        }),
        memory: z.strictObject({
          rss: count,
          heapTotal: count,
          heapUsed: count,
          external: count,
          arrayBuffers: count,
        }),
        cpu: z.strictObject({ user: amount, system: amount }),
      }),
    },
  },
})

/** GET /metrics/prometheus: the text format, version 0.0.4. */
export const prometheusMetrics = operation({
  method: 'GET',
  path: '/metrics/prometheus',
  answers: {
    200: { about: 'Every metric family with HELP and TYPE.', text: 'text/plain' },
  },
})
