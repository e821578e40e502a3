import { describe, expect, it } from 'vitest'
import { guardedApp, type Level, observedLevel, send } from '../support/guarded-app.ts'
import { rawRequest } from '../support/raw-request.ts'
import { roleToken } from '../support/tokens.ts'

const EVERY = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'] as const
const NOT_GET = ['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'] as const
const READ = ['GET', 'HEAD'] as const

/** Without skip entries, so that the route classes alone decide. */
const NO_SKIPS = { JWT_SKIP_PATHS: ' , ' }

async function expectLevel(methods: readonly string[], paths: readonly string[], level: Level) {
  const app = await guardedApp(NO_SKIPS)
  for (const path of paths) {
    for (const method of methods) {
      expect(`${method} ${path}: ${await observedLevel(app, method, path)}`).toBe(
        `${method} ${path}: ${level}`,
      )
    }
  }
}

describe('public', () => {
  it('covers the listed paths under any method', async () => {
    const paths = ['/health', '/metrics', '/metrics/prometheus', '/', '/auth/me', '/auth/login']
    await expectLevel(EVERY, [...paths, '/auth/logout'], 'public')
  })

  it('covers /assets/* and /favicon*', async () => {
    const paths = ['/assets/', '/assets/app.js', '/assets/a/b/c.css', '/favicon', '/favicon.ico']
    await expectLevel(EVERY, [...paths, '/favicons/x.png'], 'public')
  })

  it('the query plays no part', async () => {
    await expectLevel(['GET'], ['/health?verbose=1', '/?a=/api/v1/system/x', '/auth/me?'], 'public')
  })

  it('stops at its look-alikes', async () => {
    await expectLevel(
      ['GET', 'POST'],
      ['/healthz', '/health/', '/health/live', '/Health', '/HEALTH', '/metrics/', '/metrics2']
        .concat(['/metrics/prometheus/', '/metrics/other', '/assets', '/asset/x', '/Assets/x'])
        .concat(['/favico', '/Favicon.ico', '/x/favicon.ico', '/x/assets/', '/auth', '/auth/'])
        .concat(['/auth/me/', '/auth/me2', '/auth/admin', '/auth/login/x', '/auth/logout/']),
      'read-write',
    )
  })
})

describe('admin', () => {
  it('covers everything under /api/v1/system/ and /internal/ under any method', async () => {
    const system = ['/api/v1/system/', '/api/v1/system/maintenance', '/api/v1/system/a/b/c']
    await expectLevel(EVERY, [...system, '/internal/', '/internal/api/notify'], 'admin')
  })

  it('covers every DELETE below consumer-groups and resources/queues', async () => {
    const groups = ['/api/v1/consumer-groups/', '/api/v1/consumer-groups/g']
    const queues = ['/api/v1/resources/queues/', '/api/v1/resources/queues/q']
    await expectLevel(
      ['DELETE'],
      [...groups, ...queues, '/api/v1/consumer-groups/g/queues/q', '/api/v1/resources/queues/q/x'],
      'admin',
    )
  })

  it('covers /api/v1/stats/refresh under any method', async () => {
    await expectLevel(EVERY, ['/api/v1/stats/refresh'], 'admin')
  })

  it('stops at its look-alikes', async () => {
    await expectLevel(
      ['GET', 'POST', 'DELETE'],
      ['/api/v1/system', '/api/v1/systems/x', '/api/v1/System/x', '/internal', '/internals/x']
        .concat(['/Internal/x', '/api/v1/stats', '/api/v1/stats/', '/api/v1/stats/refresh/'])
        .concat(['/api/v1/stats/refreshed', '/api/v2/system/x', '/api/system/x', '/system/x']),
      'read-write',
    )
  })

  it('DELETE on the collections themselves is read-write', async () => {
    const paths = ['/api/v1/consumer-groups', '/api/v1/resources/queues', '/api/v1/resources/x']
    await expectLevel(['DELETE'], [...paths, '/api/v1/resources/queue'], 'read-write')
  })
})

describe('read-only', () => {
  const GET_PATHS = [
    '/status',
    '/api/v1/status',
    '/api/v1/status/queues',
    '/api/v1/statusx',
    '/api/v1/analytics',
    '/api/v1/analytics/system-metrics',
    '/api/v1/analyticsx',
    '/api/v1/resources/',
    '/api/v1/resources/queues',
    '/api/v1/resources/queues/q',
    '/api/v1/messages',
    '/api/v1/messages/p/t',
    '/api/v1/messagesx',
    '/api/v1/consumer-groups',
    '/api/v1/consumer-groups/g',
    '/api/v1/consumer-groupsx',
    '/api/v1/dlq',
    '/api/v1/dlq/x',
    '/api/v1/dlqx',
    '/api/v1/traces',
    '/api/v1/traces/names',
    '/api/v1/tracesx',
  ]

  it('covers GET and HEAD on the listed paths and on everything the * reaches', async () => {
    await expectLevel(READ, GET_PATHS, 'read-only')
  })

  it('is for GET and HEAD alone: the other methods are not read-only', async () => {
    const admin = (method: string, path: string) =>
      method === 'DELETE' && /^\/api\/v1\/(consumer-groups|resources\/queues)\//.test(path)
    const app = await guardedApp(NO_SKIPS)
    for (const path of GET_PATHS) {
      for (const method of NOT_GET) {
        const level = admin(method, path) ? 'admin' : 'read-write'
        expect(`${method} ${path}: ${await observedLevel(app, method, path)}`).toBe(
          `${method} ${path}: ${level}`,
        )
      }
    }
  })

  it('covers /streams/v1/state/get under any method', async () => {
    await expectLevel(EVERY, ['/streams/v1/state/get'], 'read-only')
  })

  it('stops at its look-alikes', async () => {
    await expectLevel(
      ['GET'],
      ['/status/', '/statusx', '/Status', '/api/v1/resources', '/api/v1/resourcesx']
        .concat(['/api/v1/Status', '/api/v1/stat', '/API/v1/status', '/api/V1/status'])
        .concat(['/api/v2/status', '/v1/status', '/streams/v1/state/get/', '/streams/v1/state'])
        .concat(['/streams/v1/state/getx', '/streams/v1/queries', '/x/api/v1/status']),
      'read-write',
    )
  })
})

describe('write-only', () => {
  it('covers POST /api/v1/push', async () => {
    await expectLevel(['POST'], ['/api/v1/push', '/api/v1/push?x=1'], 'write-only')
  })

  it('and only that: any other method on it is read-write', async () => {
    await expectLevel(
      ['GET', 'HEAD', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'],
      ['/api/v1/push'],
      'read-write',
    )
  })

  it('stops at its look-alikes', async () => {
    await expectLevel(
      ['POST'],
      [
        '/api/v1/pushx',
        '/api/v1/push/',
        '/api/v1/push/x',
        '/api/v1/Push',
        '/api/v1/pus',
        '/push',
      ].concat(['/API/V1/PUSH', '/api/v1/ephemeral/push']),
      'read-write',
    )
  })

  it('a write-only token is refused on every read and every consume route', async () => {
    const app = await guardedApp()
    const token = roleToken('write-only')
    expect((await app.ask('/api/v1/push', { method: 'POST', token })).status).toBe(200)
    for (const [method, path] of [
      ['GET', '/api/v1/pop'],
      ['GET', '/api/v1/pop/queue/q'],
      ['POST', '/api/v1/ack'],
      ['POST', '/api/v1/transaction'],
      ['GET', '/api/v1/resources/queues'],
      ['GET', '/status'],
      ['POST', '/api/v1/configure'],
    ] as const) {
      const { status, body } = await app.ask(path, { method, token })
      expect([status, body]).toEqual([403, { error: 'Insufficient permissions' }])
    }
  })
})

describe('read-write', () => {
  it('is the default: everything else, unknown paths included', async () => {
    await expectLevel(
      ['GET', 'POST', 'DELETE'],
      ['/api/v1/pop', '/api/v1/pop/queue/q', '/api/v1/ack', '/api/v1/transaction']
        .concat(['/api/v1/lease/l/extend', '/api/v1/configure', '/configure', '/nowhere'])
        .concat(['/api/v1/nowhere', '/api/v1', '/api/v1/', '/api', '/streams/v1/cycle', '/x/y/z']),
      'read-write',
    )
  })

  it('covers seeks, subscription changes, POST traces and message deletes', async () => {
    const group = '/api/v1/consumer-groups/g'
    await expectLevel(
      ['POST'],
      ['/api/v1/traces', `${group}/subscription`, `${group}/queues/q/seek`],
      'read-write',
    )
    const deletes = ['/api/v1/messages/p/t', '/api/v1/dlq', '/api/v1/queues/q/clear']
    await expectLevel(['DELETE'], deletes, 'read-write')
  })

  it('the admin rows beat the read-only prefixes beside them', async () => {
    const app = await guardedApp()
    for (const [method, path] of [
      ['GET', '/api/v1/stats/refresh'],
      ['GET', '/api/v1/system/x'],
      ['DELETE', '/api/v1/consumer-groups/x'],
      ['DELETE', '/api/v1/resources/queues/x'],
    ] as const) {
      for (const role of ['read-only', 'read-write']) {
        expect((await app.ask(path, { method, token: roleToken(role) })).status).toBe(403)
      }
    }
  })

  it.each(['TRACE', 'PROPFIND', 'QUERY', 'LINK', 'PURGE', 'M-SEARCH', 'SEARCH'])(
    'the unusual method %s is judged like any other that is not GET',
    async (method) => {
      const app = await guardedApp()
      const ask = (target: string, token?: string) =>
        rawRequest(app.port, {
          method,
          target,
          headers: token ? [`Authorization: Bearer ${token}`] : [],
        })
      expect((await ask('/api/v1/status')).status).toBe(401)
      expect((await ask('/api/v1/status', roleToken('read-only'))).status).toBe(403)
      expect((await ask('/api/v1/push', roleToken('write-only'))).status).toBe(403)
      expect((await ask('/api/v1/system/x', roleToken('read-write'))).status).toBe(403)
      expect((await ask('/api/v1/status', roleToken('read-write'))).status).toBe(200)
    },
  )
})

describe('HEAD', () => {
  it('has the status and headers of GET and no body, when passed and when refused', async () => {
    const app = await guardedApp()
    const path = `${app.url}/api/v1/status`
    for (const token of [undefined, 'garbage', roleToken('write-only'), roleToken('read-only')]) {
      const get = await send(path, { token })
      const head = await send(path, { method: 'HEAD', token })
      expect(head.status).toBe(get.status)
      expect(head.body).toBe('')
      for (const name of ['content-type', 'content-length', 'www-authenticate']) {
        expect(head.headers.get(name)).toBe(get.headers.get(name))
      }
    }
  })
})
