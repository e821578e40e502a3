import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { JWT_ON, lastingToken, startTestBroker, type TestBroker } from '../../support/broker.ts'
import { QUEUE_API_ROUTES } from '../../table/queue-api-routes.ts'

let broker: TestBroker
let guarded: TestBroker
beforeAll(async () => {
  broker = await startTestBroker()
  guarded = await startTestBroker(JWT_ON)
})
afterAll(() => Promise.all([broker.stop(), guarded.stop()]))

const NUL = '\u0000'
const HALF = '\ud83d'

/** Path parameters that are names; the others are ids. */
const NAMES = new Set(['queue', 'partition', 'group'])

/** Every parameter of every path, with a request that has a NUL there alone. */
const PARAMS = QUEUE_API_ROUTES.flatMap(([method, path]) =>
  [...path.matchAll(/:(\w+)/g)].map(([param, name = '']) => {
    const target = path.replace(`${param}/`, 'a%00b/').replace(new RegExp(`${param}$`), 'a%00b')
    const route = `${method} ${target.replaceAll(/:\w+/g, 'a')}`
    return [`${param} of ${method} ${path}`, { name, route }] as const
  }),
)

describe('text that no store gives back as it came', () => {
  it.each([
    ['queue', NUL],
    ['queue', HALF],
    ['partition', NUL],
    ['transactionId', NUL],
    ['transactionId', HALF],
    ['traceId', NUL],
  ])('is refused as %s of a pushed item', async (field, bad) => {
    const item = { queue: 'q', payload: 1, [field]: `a${bad}b` }
    const { status, body } = await broker.call('POST /api/v1/push', { json: { items: [item] } })
    expect([status, Object.keys(body)]).toEqual([400, ['error']])
  })

  it('stays what it is inside a payload, which is JSON', async () => {
    const payload = { text: `a${NUL}b` }
    const json = { items: [{ queue: 'payloads', payload }] }
    expect((await broker.call('POST /api/v1/push', { json })).status).toBe(201)
    const { body } = await broker.call('GET /api/v1/pop/queue/payloads')
    expect(body.messages[0].data).toEqual(payload)
  })

  it.each(PARAMS)('is refused as %s', async (_, { name, route }) => {
    const { status, body } = await broker.call(route)
    const error = NAMES.has(name)
      ? `${name} must be text of 1 to 255 characters`
      : 'the URL must not hold a NUL'
    expect([status, body]).toEqual([400, { error }])
  })

  it.each([
    'GET /api/v1/pop/queue/q?consumerGroup=a%00b',
    'GET /api/v1/pop?namespace=a%00b',
    'GET /api/v1/messages?queue=a%00b',
    'GET /api/v1/dlq?queue=a%00b',
    'GET /assets/a%00b',
    'GET /assets/a/%00/b',
    'GET /faviconx%00',
    'GET /api/v1/nowhere/a%00b',
  ])('is refused in the target %s', async (route) => {
    const { status, body } = await broker.call(route)
    expect([status, body]).toEqual([400, { error: 'the URL must not hold a NUL' }])
  })

  it('is refused as the sub of a producer', async () => {
    const json = { items: [{ queue: 'q', payload: 1 }] }
    const token = lastingToken('write-only', `a${NUL}b`)
    const { status, body } = await guarded.call('POST /api/v1/push', { json, token })
    expect([status, body]).toEqual([
      400,
      { error: 'the sub of the token must be text without NUL' },
    ])
  })

  it('is kept in a readable form as the error of a failed ack', async () => {
    await broker.call('POST /api/v1/configure', {
      json: { queue: 'failing', options: { retryLimit: 0 } },
    })
    await broker.call('POST /api/v1/push', { json: { items: [{ queue: 'failing', payload: 1 }] } })
    const popped = await broker.call('GET /api/v1/pop/queue/failing')
    const [{ transactionId, partitionId, leaseId }] = popped.body.messages
    const json = { transactionId, partitionId, leaseId, status: 'failed', error: `a${NUL}${HALF}b` }
    expect((await broker.call('POST /api/v1/ack', { json })).body[0].dlq).toBe(true)
    const { body } = await broker.call('GET /api/v1/dlq?queue=failing')
    expect(body.messages[0].errorMessage).toBe('a\uFFFD\uFFFDb')
  })
})
