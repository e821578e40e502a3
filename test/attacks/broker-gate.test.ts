import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { routesOf } from '../../src/http/index.ts'
import { JWT_ON, lastingToken, startTestBroker, type TestBroker } from '../support/broker.ts'
import { PASSED_BY, ROLES } from '../support/guarded-app.ts'
import { rawRequest } from '../support/raw-request.ts'
import { readRouteTable } from '../support/routes-app.ts'
import { QUEUE_API_ROUTES } from '../table/queue-api-routes.ts'

const NOT_FOUND = '{"error":"Not Found","code":"no_such_route"}'

let running: TestBroker
beforeAll(async () => {
  running = await startTestBroker(JWT_ON)
})
afterAll(() => running.stop())

function ask(method: string, target: string, role?: string, ...headers: readonly string[]) {
  const credential = role ? [`Authorization: Bearer ${lastingToken(role)}`] : []
  return rawRequest(running.port, { method, target, headers: [...credential, ...headers] })
}

/** The routes of the queue API; other parts of the broker have gates of their own. */
const QUEUE_ROUTES = QUEUE_API_ROUTES.map(([method, path, level]) => ({ method, path, level }))

/** A path that fits a pattern of that page. */
const sample = (path: string) => path.replaceAll(/:[A-Za-z]+|\*/g, 'some')

describe('the routes of the running broker', () => {
  it('are the rows of routes.table.json, in both directions', () => {
    const registered = routesOf(running.broker.app.router).map(
      ({ method, path }) => `${method} ${path}`,
    )
    const rows = readRouteTable().routes.map(({ method, path }) => `${method} ${path}`)
    expect(registered.toSorted()).toEqual(rows.toSorted())
  })

  it('each refuses everyone below its level with the documented answer', async () => {
    for (const { method, path, level } of QUEUE_ROUTES) {
      if (level === 'public') continue
      const target = sample(path)
      const none = await ask(method, target)
      expect([method, target, none.status, none.body]).toEqual([
        method,
        target,
        401,
        '{"error":"Authentication required"}',
      ])
      for (const role of ROLES.filter((each) => !PASSED_BY[level].includes(each))) {
        const { status, body } = await ask(method, target, role)
        expect([method, target, role, status, body]).toEqual([
          method,
          target,
          role,
          403,
          '{"error":"Insufficient permissions"}',
        ])
      }
    }
  })
})

describe('a path that no route serves', () => {
  it.each(['/api/v1/nowhere', '/nowhere', '/streams/v1/x', '/api/v1/statusx'])(
    '%s: 401 without a token, 403 with a low role, then 404 no_such_route',
    async (target) => {
      expect((await ask('POST', target)).status).toBe(401)
      expect((await ask('POST', target, 'read-only')).status).toBe(403)
      expect((await ask('POST', target, 'write-only')).status).toBe(403)
      const answer = await ask('POST', target, 'read-write')
      expect([answer.status, answer.body]).toEqual([404, NOT_FOUND])
    },
  )

  it('a public path under a method it does not serve is 404 no_such_route for everyone', async () => {
    for (const target of ['/health', '/metrics', '/auth/me', '/auth/login']) {
      const answer = await ask('DELETE', target)
      expect([answer.status, answer.body]).toEqual([404, NOT_FOUND])
    }
  })

  it.each([
    ['GET', '/api/v1/status/'],
    ['GET', '//api/v1/status'],
    ['GET', '/api//v1/status'],
    ['GET', '/api/v1/x/../status'],
    ['GET', '/api/v1/%73tatus'],
    ['GET', '/API/v1/status'],
    ['GET', '/api/v1/system/maintenance/'],
    ['GET', '/api/v1/./system/maintenance'],
    ['DELETE', '/api/v1/resources/queues/x/'],
    ['POST', '/api/v1/push/'],
    ['POST', '/api/v1/%70ush'],
  ])('%s %s is another spelling, which no role opens', async (method, target) => {
    expect((await ask(method, target)).status).toBe(401)
    for (const role of ROLES) {
      const { status } = await ask(method, target, role)
      expect([403, 404]).toContain(status)
    }
    expect((await ask(method, target, 'admin')).status).toBe(404)
  })
})

describe('CORS and the gate', () => {
  it('a preflight is 204 before authentication, without body', async () => {
    for (const target of ['/api/v1/push', '/api/v1/system/x', '/nowhere', '/health']) {
      const answer = await ask(
        'OPTIONS',
        target,
        undefined,
        'Origin: https://app.example',
        'Access-Control-Request-Method: POST',
      )
      expect([answer.status, answer.body]).toEqual([204, ''])
      expect(answer.header('content-length')).toBeUndefined()
      expect(answer.header('content-type')).toBeUndefined()
      expect(answer.header('access-control-allow-origin')).toBe('*')
      expect(answer.header('access-control-allow-headers')).toMatch(/Authorization/i)
    }
  })

  it('every refusal carries Access-Control-Allow-Origin, so that browsers can read it', async () => {
    const origin = 'Origin: https://app.example'
    const refusals = [
      await ask('GET', '/api/v1/status', undefined, origin),
      await ask('GET', '/api/v1/status', undefined, origin, 'Authorization: Bearer x'),
      await ask('GET', '/api/v1/status', 'write-only', origin),
      await ask('GET', '/api/v1/nowhere', 'admin', origin),
    ]
    expect(refusals.map(({ status }) => status)).toEqual([401, 401, 403, 404])
    for (const answer of refusals) {
      expect(answer.header('access-control-allow-origin')).toBe('*')
    }
  })
})

describe('HEAD', () => {
  it('needs what GET needs and answers alike without a body; on pop it is 405 after the gate', async () => {
    for (const { method, path, level } of QUEUE_ROUTES) {
      if (method !== 'GET') continue
      const target = sample(path)
      const anonymous = await ask('HEAD', target)
      expect(anonymous.body).toBe('')
      if (level !== 'public') expect([target, anonymous.status]).toEqual([target, 401])
      if (target.startsWith('/api/v1/pop')) {
        expect((await ask('HEAD', target, 'read-only')).status).toBe(403)
        expect((await ask('HEAD', target, 'read-write')).status).toBe(405)
        continue
      }
      const [get, head] = [await ask('GET', target, 'admin'), await ask('HEAD', target, 'admin')]
      expect([target, head.status, head.body]).toEqual([target, get.status, ''])
      expect(head.header('content-type')).toBe(get.header('content-type'))
    }
  })
})

describe('/auth/me with JWT on', () => {
  it('is 401 from its own handler, whatever the token', async () => {
    const said = { error: 'auth_required', code: 'auth_required' }
    for (const role of [undefined, ...ROLES]) {
      const answer = await ask('GET', '/auth/me', role)
      expect([answer.status, JSON.parse(answer.body)]).toEqual([401, said])
    }
    const garbage = await ask('GET', '/auth/me', undefined, 'Authorization: Bearer garbage')
    expect(JSON.parse(garbage.body)).toEqual(said)
  })
})

describe('a write-only producer', () => {
  it('pushes, and is refused with 403 on every other route that is not public', async () => {
    for (const { method, path, level } of QUEUE_ROUTES) {
      if (level === 'public' || level === 'write-only') continue
      expect([path, (await ask(method, sample(path), 'write-only')).status]).toEqual([path, 403])
    }
    const items = [{ queue: 'q', payload: 1, transactionId: 'a', producerSub: 'forged' }]
    const pushed = await rawRequest(running.port, {
      method: 'POST',
      target: '/api/v1/push',
      headers: [
        `Authorization: Bearer ${lastingToken('write-only', 'producer-1')}`,
        'Content-Type: application/json',
      ],
      body: JSON.stringify({ items }),
    })
    expect(pushed.status).toBe(201)
    const popped = await ask('GET', '/api/v1/pop/queue/q?batch=1', 'read-write')
    expect(popped.status).toBe(200)
    expect(popped.body).toContain('"producerSub":"producer-1"')
    expect(popped.body).not.toContain('forged')
  })
})

describe('the log of the broker', () => {
  it('holds no token, no Authorization header and no cookie', async () => {
    const token = lastingToken('admin')
    const headers = [`Authorization: Bearer ${token}`, `Cookie: s=${token}`]
    for (const target of ['/api/v1/status', '/nowhere', `/x?access_token=${token}`]) {
      await rawRequest(running.port, { target, headers })
    }
    const written = running.lines.join('')
    expect(written).toContain('/nowhere')
    for (const part of [token, token.split('.')[1], token.split('.')[2]]) {
      expect(written).not.toContain(part)
    }
    expect(written).not.toContain(JWT_ON.JWT_SECRET)
  })
})
