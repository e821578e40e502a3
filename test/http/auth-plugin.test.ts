import type { ErrorRequestHandler } from 'express'
import { describe, expect, it } from 'vitest'
import { brokerAuth, loadAuthConfig } from '../../src/auth.ts'
import { capturedLog } from '../support/captured-log.ts'
import { fakeClock } from '../support/clock.ts'
import { startApp, strictApp } from '../support/express-app.ts'
import { closeAfterTest, guardedApp, jwtEnvironment, send } from '../support/guarded-app.ts'
import { mint, roleToken } from '../support/tokens.ts'

type Options = NonNullable<Parameters<typeof brokerAuth>[1]>

const config = loadAuthConfig(jwtEnvironment())

function gate(options: Options = {}) {
  return brokerAuth(config, { clock: fakeClock(), logger: false, ...options })
}

/** An app with the gate mounted at `mount`, and a handler at every path. */
async function mountedAt(mount: string, options: Options = {}) {
  const app = await startApp((express) => {
    express.use(mount, gate(options))
    express.use((req, res) => {
      res.json({ path: req.path, auth: req.auth ?? null })
    })
  })
  closeAfterTest(app.close)
  return app
}

describe('with JWT off', () => {
  it('every request passes with an empty identity, and no header is read', async () => {
    const app = await guardedApp({ JWT_ENABLED: 'false' })
    for (const token of [undefined, 'garbage', roleToken('admin')]) {
      for (const path of ['/api/v1/system/x', '/api/v1/push', '/nowhere', '/']) {
        const answer = await app.ask(path, { method: 'POST', token })
        expect(answer.status).toBe(200)
        expect(answer.body).toHaveProperty('auth.roles')
        expect(answer.body).not.toHaveProperty('auth.claims')
        expect(answer.body).not.toHaveProperty('auth.sub')
        expect(answer.body).not.toHaveProperty('auth.header')
      }
    }
  })
})

describe('req.auth', () => {
  it('holds sub, roles, claims and header of the verified token', async () => {
    const app = await guardedApp()
    const token = mint({
      claims: { role: 'admin', roles: ['read-only', 'other'], tenant: 't1' },
      header: { kid: 'k' },
    })
    const { body } = await app.ask('/x', { token })
    expect(body).toMatchObject({
      auth: {
        sub: 'tester',
        claims: { sub: 'tester', role: 'admin', roles: ['read-only', 'other'], tenant: 't1' },
        header: { alg: 'HS256', kid: 'k' },
      },
    })
    const { roles } = (body as { auth: { roles: string[] } }).auth
    expect(roles).toEqual(expect.arrayContaining(['admin', 'read-only']))
    expect(roles).not.toContain('read-write')
  })

  it('is empty on a public path, even with a good token', async () => {
    const app = await guardedApp()
    const { status, body } = await app.ask('/auth/me', { token: roleToken('admin') })
    expect(status).toBe(200)
    expect(body).not.toHaveProperty('auth.claims')
    expect(body).not.toHaveProperty('auth.sub')
  })

  it('a handler that changes it does not change what the next request sees', async () => {
    const app = await startApp((express) => {
      express.use(gate())
      express.use((req, res) => {
        const claims = req.auth?.claims as Record<string, unknown> | undefined
        const seen = { extra: claims?.['extra'], role: claims?.['role'] }
        try {
          if (claims) claims['extra'] = 'left behind'
          if (claims) claims['role'] = 'admin'
        } catch {
          // A frozen identity is as good.
        }
        res.json(seen)
      })
    })
    closeAfterTest(app.close)
    const token = mint()
    await send(`${app.url}/x`, { token })
    const second = await send(`${app.url}/x`, { token })
    expect(second.body).toEqual({ role: 'read-write' })
    expect((await send(`${app.url}/internal/x`, { token })).status).toBe(403)
  })
})

describe('basePath', () => {
  it('is taken off before the path is classified', async () => {
    const app = await mountedAt('/queue', { basePath: '/queue' })
    expect((await send(`${app.url}/queue/health`)).status).toBe(200)
    expect((await send(`${app.url}/queue/api/v1/status`)).status).toBe(401)
    const readOnly = roleToken('read-only')
    expect((await send(`${app.url}/queue/api/v1/status`, { token: readOnly })).status).toBe(200)
    const readWrite = roleToken('read-write')
    const system = `${app.url}/queue/api/v1/system/x`
    expect((await send(system, { token: readWrite })).status).toBe(403)
    expect((await send(system, { token: roleToken('admin') })).status).toBe(200)
  })

  it('skip entries speak of what comes after it', async () => {
    const skipping = loadAuthConfig(jwtEnvironment({ JWT_SKIP_PATHS: '/open/,/queue/shut' }))
    const app = await startApp((express) => {
      express.use(
        '/queue',
        brokerAuth(skipping, { clock: fakeClock(), logger: false, basePath: '/queue' }),
      )
      express.use((_req, res) => {
        res.json({})
      })
    })
    closeAfterTest(app.close)
    expect((await send(`${app.url}/queue/open/x`)).status).toBe(200)
    expect((await send(`${app.url}/queue/shut`)).status).toBe(401)
  })

  it('the mounted root is the root document', async () => {
    const app = await mountedAt('/queue', { basePath: '/queue' })
    expect((await send(`${app.url}/queue/`)).status).toBe(200)
    expect((await send(`${app.url}/queue/x`)).status).toBe(401)
  })

  it.each([
    ['/queue', {}],
    ['/queue', { basePath: '/other' }],
    ['/queue', { basePath: '/Queue' }],
    ['/api/v1/system', {}],
    ['/a/b', { basePath: '/b' }],
    ['/a/b', { basePath: '/a' }],
    ['/', { basePath: '/queue' }],
  ])('mounted at %s with %o answers 500 and never passes', async (mount, options) => {
    const app = await mountedAt(mount, options)
    const base = mount === '/' ? '' : mount
    for (const token of [undefined, roleToken('admin')]) {
      for (const path of ['/health', '/x', '']) {
        const answer = await send(`${app.url}${base}${path}`, { token })
        expect(answer.status).toBe(500)
        expect(Object.keys(answer.body as object)).toEqual(['error'])
      }
    }
  })

  it('a mismatch is logged with both paths', async () => {
    const log = capturedLog()
    const app = await mountedAt('/queue', { basePath: '/other', logger: log.logger })
    await send(`${app.url}/queue/x`)
    const line = log.lines().find((each) => each['level'] === 'error')
    expect(JSON.stringify(line)).toMatch(/\/queue.*\/other|\/other.*\/queue/)
  })

  it.each(['/queue/', 'queue', '//', ' /queue', 'http://x/queue'])(
    '%j, which no mount can equal, is refused when the gate is made',
    (basePath) => {
      expect(() => gate({ basePath })).toThrow('basePath')
    },
  )

  it('a mount that a case-insensitive app matched in other letters answers 500', async () => {
    const app = await startApp((express) => {
      express.disable('case sensitive routing')
      express.use('/queue', gate({ basePath: '/queue' }))
      express.use((_req, res) => {
        res.json({})
      })
    })
    closeAfterTest(app.close)
    const token = roleToken('admin')
    expect((await send(`${app.url}/queue/x`, { token })).status).toBe(200)
    expect((await send(`${app.url}/QUEUE/x`, { token })).status).toBe(500)
  })

  it('an app in an app is judged by the whole path', async () => {
    const inner = strictApp()
    inner.use(gate({ basePath: '/queue' }))
    inner.use((_req, res) => {
      res.json({ inner: true })
    })
    const app = await startApp((express) => {
      express.use('/queue', inner)
    })
    closeAfterTest(app.close)
    const token = roleToken('read-write')
    expect((await send(`${app.url}/queue/api/v1/system/x`, { token })).status).toBe(403)
    expect((await send(`${app.url}/queue/api/v1/pop`, { token })).status).toBe(200)
  })
})

describe('a path that an earlier middleware rewrote', () => {
  it('must satisfy the level of what was sent and of what will be routed', async () => {
    const app = await startApp((express) => {
      express.use((req, _res, next) => {
        if (req.url === '/health') req.url = '/api/v1/system/x'
        next()
      })
      express.use(gate())
      express.use((req, res) => {
        res.json({ path: req.path })
      })
    })
    closeAfterTest(app.close)
    expect((await send(`${app.url}/health`)).status).toBe(401)
    const readWrite = await send(`${app.url}/health`, { token: roleToken('read-write') })
    expect(readWrite.status).toBe(403)
  })
})

describe('an error of a handler behind the gate', () => {
  it('reaches the app once and is no 401, with a token that is new and one that is cached', async () => {
    let failures = 0
    const app = await startApp((express) => {
      express.use(gate())
      express.get('/sync', () => {
        throw new Error('sync fault')
      })
      express.get('/async', async () => {
        throw new Error('async fault')
      })
      const onError: ErrorRequestHandler = (_error, _req, res, _next) => {
        failures += 1
        res.status(418).json({})
      }
      express.use(onError)
    })
    closeAfterTest(app.close)
    const token = mint()
    for (const path of ['/sync', '/async', '/sync', '/async']) {
      expect((await send(`${app.url}${path}`, { token })).status).toBe(418)
    }
    expect(failures).toBe(4)
  })
})

describe('what the owner is told', () => {
  it('one record for each decision, with level, outcome and reason, and never the token', async () => {
    const records: unknown[] = []
    const app = await guardedApp({}, { onDecision: (record) => records.push(record) })
    const token = mint()
    await app.ask('/health')
    await app.ask('/x')
    await app.ask('/x', { token })
    await app.ask('/x', { token })
    await app.ask('/api/v1/system/x', { token })
    await app.ask('/api/v1/push', { method: 'POST', token: 'garbage' })
    expect(records).toMatchObject([
      { outcome: 'allowed' },
      { outcome: 'refused', level: 'read-write' },
      { outcome: 'allowed', level: 'read-write' },
      { outcome: 'allowed', level: 'read-write' },
      { outcome: 'refused', level: 'admin' },
      { outcome: 'refused', level: 'write-only' },
    ])
    expect(JSON.stringify(records)).not.toContain(token.slice(-20))
  })
})

describe('options that contradict', () => {
  it('rules and level together are refused when the gate is made', () => {
    expect(() => gate({ level: 'admin', rules: { rules: [] } })).toThrow()
  })
})

describe('level', () => {
  it('is one fixed level for every method and path, known or not', async () => {
    const app = await guardedApp({ JWT_SKIP_PATHS: '/open' }, { level: 'admin' })
    for (const path of ['/', '/health', '/auth/me', '/api/v1/push', '/api/v1/status', '/x']) {
      expect((await app.ask(path)).status).toBe(401)
      expect((await app.ask(path, { token: roleToken('read-write') })).status).toBe(403)
      expect((await app.ask(path, { token: roleToken('admin') })).status).toBe(200)
    }
    expect((await app.ask('/open')).status).toBe(200)
  })

  it('serves one route of an app', async () => {
    const app = await startApp((express) => {
      express.get('/report', gate({ level: 'read-only' }), (req, res) => {
        res.json({ sub: req.auth?.sub })
      })
      express.get('/free', (_req, res) => {
        res.json({})
      })
    })
    closeAfterTest(app.close)
    expect((await send(`${app.url}/free`)).status).toBe(200)
    expect((await send(`${app.url}/report`)).status).toBe(401)
    expect((await send(`${app.url}/report`, { token: roleToken('write-only') })).status).toBe(403)
    const answer = await send(`${app.url}/report`, { token: roleToken('read-only') })
    expect([answer.status, answer.body]).toEqual([200, { sub: 'tester' }])
  })
})

describe('two gates in one app', () => {
  it('keep to themselves: a token of one is not known to the other', async () => {
    const other = loadAuthConfig(jwtEnvironment({ JWT_SECRET: 'the secret of the other gate' }))
    const clock = fakeClock()
    const app = await startApp((express) => {
      express.use('/a', gate({ basePath: '/a' }))
      express.use('/b', brokerAuth(other, { clock, logger: false, basePath: '/b' }))
      express.use((_req, res) => {
        res.json({})
      })
    })
    closeAfterTest(app.close)
    const token = mint()
    expect((await send(`${app.url}/a/x`, { token })).status).toBe(200)
    expect((await send(`${app.url}/b/x`, { token })).status).toBe(401)
    expect((await send(`${app.url}/a/x`, { token })).status).toBe(200)
  })
})
