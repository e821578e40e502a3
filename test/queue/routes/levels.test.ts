import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { JWT_ON, lastingToken, startTestBroker, type TestBroker } from '../../support/broker.ts'
import { ROUTE_ROWS, type RouteRowText } from '../../support/route-rows.ts'

/** Seed "Access levels are a role set": who passes. */
const PASSES = new Map([
  ['public', ['none', 'read-only', 'write-only', 'read-write', 'admin']],
  ['read-only', ['read-only', 'read-write', 'admin']],
  ['write-only', ['write-only', 'read-write', 'admin']],
  ['read-write', ['read-write', 'admin']],
  ['admin', ['admin']],
])
const WHO = ['none', 'read-only', 'write-only', 'read-write', 'admin']

let broker: TestBroker
beforeAll(async () => {
  broker = await startTestBroker(JWT_ON)
})
afterAll(() => broker.stop())

const pathOf = (pattern: string) => pattern.replace(/\{?[:*](\w+)\}?/g, 'x')

/** Public at the gate, with refusals of its own: the identity route of the seed, the hub and the issuer. */
function guardsItself({ path, level }: RouteRowText): boolean {
  return (
    level === 'public' && /^\/(auth\/me|\.well-known|functions|rest|pubsub|playground)/.test(path)
  )
}

async function statusFor({ method, path }: RouteRowText, who: string): Promise<number> {
  const token = who === 'none' ? {} : { token: lastingToken(who) }
  const { status } = await broker.call(`${method} ${pathOf(path)}`, token)
  return status
}

describe('every route of the table over HTTP', () => {
  it.each(ROUTE_ROWS)(
    '$method $path is $level: 401 without a token, 403 for the wrong roles',
    async (row) => {
      const allowed = PASSES.get(row.level) ?? []
      for (const who of WHO) {
        const status = await statusFor(row, who)
        if (allowed.includes(who)) {
          const refusals = guardsItself(row) ? [] : [401, 403]
          expect(refusals, `${who} got ${status}`).not.toContain(status)
          expect(status === 501 || status < 500, `${who} got ${status}`).toBe(true)
        } else expect(status).toBe(who === 'none' ? 401 : 403)
      }
    },
  )

  it.each(ROUTE_ROWS.filter(({ method }) => method === 'GET'))(
    'HEAD $path needs what GET needs and answers the same without a body',
    async (row) => {
      const isPop = row.path.startsWith('/api/v1/pop')
      for (const who of WHO) {
        const got = await statusFor(row, who)
        const headed = await statusFor({ ...row, method: 'HEAD' }, who)
        // HEAD must not take a lease.
        const passed = got !== 401 && got !== 403
        expect([who, headed]).toEqual([who, isPop && passed ? 405 : got])
      }
    },
  )

  it.each(['/nowhere', '/api/v1/pushx', '/api/v1/status/', '/API/v1/status'])(
    'needs read-write for %s, and is 404 then',
    async (path) => {
      const row = { method: 'POST', path, level: '' }
      expect(await statusFor(row, 'none')).toBe(401)
      expect(await statusFor(row, 'read-only')).toBe(403)
      expect(await statusFor(row, 'write-only')).toBe(403)
      expect(await statusFor(row, 'read-write')).toBe(404)
    },
  )

  it('judges malformed percent-encoding before it answers 400', async () => {
    const row = { method: 'GET', path: '/api/v1/pop/queue/%zz', level: '' }
    expect(await statusFor(row, 'none')).toBe(401)
    expect(await statusFor(row, 'read-write')).toBe(400)
  })

  it('reads no body of a request that the gate refuses', async () => {
    const json = '{"items":['
    expect((await broker.call('POST /api/v1/push', { json })).status).toBe(401)
    expect(
      (await broker.call('POST /api/v1/push', { json, token: lastingToken('read-only') })).status,
    ).toBe(403)
    expect(
      (await broker.call('POST /api/v1/push', { json, token: lastingToken('write-only') })).status,
    ).toBe(400)
  })

  it('answers the legacy stream routes 404 no_such_route', async () => {
    for (const name of ['define', 'poll', 'ack', 'renew-lease', 'seek']) {
      const reply = await broker.call(`POST /api/v1/stream/${name}`, {
        token: lastingToken('admin'),
        json: {},
      })
      expect([reply.status, reply.body.code]).toEqual([404, 'no_such_route'])
    }
  })
})
