import { describe, expect, it } from 'vitest'
import { guardedApp } from '../support/guarded-app.ts'
import { rawRequest } from '../support/raw-request.ts'
import { mint, roleToken } from '../support/tokens.ts'

async function anonymous(skipPaths: string, path: string, method = 'GET') {
  const app = await guardedApp({ JWT_SKIP_PATHS: skipPaths })
  return (await app.ask(path, { method })).status
}

describe('a skip entry', () => {
  it('matches a request path exactly, under any method, whatever the query', async () => {
    for (const method of ['GET', 'HEAD', 'POST', 'DELETE']) {
      expect(await anonymous('/open', '/open', method)).toBe(200)
    }
    expect(await anonymous('/open', '/open?x=/closed')).toBe(200)
    for (const path of ['/open/', '/open/x', '/openx', '/ope', '/Open', '/x/open', '/']) {
      expect(await anonymous('/open', path === '/' ? '/y' : path)).toBe(401)
    }
  })

  it('that ends in / also matches everything below it', async () => {
    for (const path of ['/open/', '/open/x', '/open/x/y', '/open/x/']) {
      expect(await anonymous('/open/', path)).toBe(200)
    }
    for (const path of ['/open', '/openx', '/Open/x', '/x/open/']) {
      expect(await anonymous('/open/', path)).toBe(401)
    }
  })

  it('/ skips only the root document', async () => {
    expect(await anonymous('/', '/')).toBe(200)
    expect(await anonymous('/', '/?q=1')).toBe(200)
    for (const path of ['/x', '/api/v1/status', '/api/v1/system/x', '//']) {
      const app = await guardedApp({ JWT_SKIP_PATHS: '/' })
      expect((await rawRequest(app.port, { target: path })).status).toBe(401)
    }
  })

  it('with encoded characters matches as it is written, and opens no path that it does not name', async () => {
    expect(await anonymous('/caf%C3%A9/', '/caf%C3%A9/x')).toBe(200)
    expect(await anonymous('/a%20b', '/a%20b')).toBe(200)
    expect(await anonymous('/a%20b', '/a%20c')).toBe(401)
    expect(await anonymous('/open/../closed/', '/closed/x')).toBe(401)
    expect(await anonymous('//closed', '/closed')).toBe(401)
  })

  it('overrides the level of the route, admin too', async () => {
    expect(await anonymous('/api/v1/system/maintenance', '/api/v1/system/maintenance')).toBe(200)
    expect(await anonymous('/api/v1/system/maintenance', '/api/v1/system/other')).toBe(401)
    expect(await anonymous('/internal/', '/internal/api/notify', 'POST')).toBe(200)
  })

  it('passes before any token is read: a bad or expired token does no harm', async () => {
    const app = await guardedApp({ JWT_SKIP_PATHS: '/open' })
    const expired = mint({ claims: { exp: 1 } })
    for (const token of ['garbage', expired, roleToken('admin')]) {
      const answer = await app.ask('/open', { token })
      expect(answer.status).toBe(200)
      expect(answer.body).not.toHaveProperty('auth.claims')
      expect(answer.body).not.toHaveProperty('auth.sub')
    }
  })

  it.each(['/open//x', '/open/./x', '/open/a/../b', '/open/%61', '/open/a%2Fb', '/open/x/..'])(
    'matches %s, whose raw and normalised readings both match',
    async (target) => {
      const app = await guardedApp({ JWT_SKIP_PATHS: '/open/' })
      expect((await rawRequest(app.port, { target })).status).toBe(200)
    },
  )

  it.each([
    '//open/x',
    '/x/../open/y',
    '/%6fpen/x',
    '/open/../closed',
    '/open/%2e%2e/closed',
    '/open/..%2fclosed',
    '/open/..%2Fclosed',
    '/open%2Fx',
    '/open/%2E./closed',
    '/open\\..\\closed',
    '/open/..%5cclosed',
    '/open/./../closed',
    '/open/a/../../closed',
    '/closed/../open/../closed',
  ])('does not match %s, one reading of which lies elsewhere', async (target) => {
    const app = await guardedApp({ JWT_SKIP_PATHS: '/open/' })
    expect([400, 401]).toContain((await rawRequest(app.port, { target })).status)
    expect(app.reached).toEqual([])
  })
})

describe('JWT_SKIP_PATHS as a list', () => {
  it('defaults to /health, /metrics/prometheus, /metrics and /', async () => {
    for (const path of ['/health', '/metrics/prometheus', '/metrics', '/']) {
      const app = await guardedApp({}, { level: 'admin' })
      expect((await app.ask(path)).status).toBe(200)
    }
    const app = await guardedApp({}, { level: 'admin' })
    expect((await app.ask('/auth/me')).status).toBe(401)
  })

  it('replaces the default, and the public paths stay public by their level', async () => {
    expect(await anonymous('/open', '/health')).toBe(200)
    const app = await guardedApp({ JWT_SKIP_PATHS: '/open' }, { level: 'admin' })
    expect((await app.ask('/health')).status).toBe(401)
    expect((await app.ask('/open')).status).toBe(200)
  })

  it('trims its entries and ignores empty ones', async () => {
    for (const list of [' /a , /b ', ',/a,,/b,', '/a,\t/b', '/a,/b,/a']) {
      expect(await anonymous(list, '/a')).toBe(200)
      expect(await anonymous(list, '/b')).toBe(200)
      expect(await anonymous(list, '/c')).toBe(401)
    }
  })

  it.each(['*', '/*', 'a', '.*', '/a/*', '/[a-z]+', '//', '%2F'])(
    'takes no patterns: %s opens nothing else',
    async (entry) => {
      for (const path of ['/a', '/a/b', '/api/v1/status']) {
        expect(await anonymous(entry, path)).toBe(401)
      }
    },
  )
})
