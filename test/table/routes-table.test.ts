import { describe, expect, it } from 'vitest'
import { brokerAuth, loadAuthConfig, type RouteTableInput } from '../../src/auth.ts'
import { fakeClock } from '../support/clock.ts'
import { guardedApp, jwtEnvironment, observedLevel } from '../support/guarded-app.ts'
import { readRouteTable } from '../support/routes-app.ts'
import { QUEUE_API_ROUTES } from './queue-api-routes.ts'

/** The seed's route classes ("The route classification is prefix-based") in the order of queue API 17.5. */
const SEED_RULES = [
  ...['/health', '/metrics', '/metrics/prometheus', '/'].map((path) => [path, '*', 'public']),
  ['/assets/*', '*', 'public'],
  ['/favicon*', '*', 'public'],
  ...['/auth/me', '/auth/login', '/auth/logout'].map((path) => [path, '*', 'public']),
  ['/api/v1/system/*', '*', 'admin'],
  ['/internal/*', '*', 'admin'],
  ['/api/v1/consumer-groups/*', 'DELETE', 'admin'],
  ['/api/v1/resources/queues/*', 'DELETE', 'admin'],
  ['/api/v1/stats/refresh', '*', 'admin'],
  ['/status', 'GET', 'read-only'],
  ...[
    'status*',
    'analytics*',
    'resources/*',
    'messages*',
    'consumer-groups*',
    'dlq*',
    'traces*',
  ].map((tail) => [`/api/v1/${tail}`, 'GET', 'read-only']),
  ['/streams/v1/state/get', '*', 'read-only'],
  ['/api/v1/push', 'POST', 'write-only'],
]

interface Rule {
  readonly methods: '*' | readonly string[]
  readonly path?: string
  readonly prefix?: string
  readonly level: string
}

/** A path of our table (Express pattern) as the queue API page writes it. */
const asPage = (path: string) => path.replace(/\{?\*[a-z]+\}?$/, '*')
/** A path that fits the pattern. */
const sample = (path: string) => path.replaceAll(/[{}]/g, '').replaceAll(/[:*][A-Za-z]+/g, 'some')

describe('routes.table.json', () => {
  const table = readRouteTable() as unknown as {
    rules: Rule[]
    default: string
    routes: { method: string; path: string; level: string; summary: string }[]
  }

  it('begins with the rules of the seed, and its default is read-write', () => {
    const rules = table.rules.map(({ methods, path, prefix, level }) => [
      path ?? `${prefix}*`,
      methods === '*' ? '*' : methods.join(),
      level,
    ])
    expect(rules.slice(0, SEED_RULES.length)).toEqual(SEED_RULES)
    expect(table.default).toBe('read-write')
  })

  it('has every row of the route table of the queue API, at its level', () => {
    const rows = table.routes.map((row) => `${row.method} ${asPage(row.path)} ${row.level}`)
    expect(rows).toEqual(
      expect.arrayContaining(
        QUEUE_API_ROUTES.map(([method, path, level]) => `${method} ${path} ${level}`),
      ),
    )
    expect(QUEUE_API_ROUTES).toHaveLength(73)
  })

  it('has no row twice, and says of each what it does', () => {
    const names = table.routes.map((row) => `${row.method} ${row.path}`)
    expect(new Set(names).size).toBe(names.length)
    for (const row of table.routes) expect(row.summary).not.toBe('')
  })

  it.each(table.routes.map((row) => [row.method, row.path, row.level] as const))(
    '%s %s is answered at the level %s',
    async (method, path, level) => {
      const app = await guardedApp({ JWT_SKIP_PATHS: '/unused' })
      expect(await observedLevel(app, method, sample(path))).toBe(level)
    },
  )
})

describe('a level of the seed is not moved by a rule that stands after it', () => {
  it.each(QUEUE_API_ROUTES)('%s %s stays %s', async (method, path, level) => {
    const app = await guardedApp({ JWT_SKIP_PATHS: '/unused' })
    expect(await observedLevel(app, method, sample(path.replace('*', '*some')))).toBe(level)
  })
})

describe('rules of an app of its own', () => {
  const rules: RouteTableInput = {
    rules: [
      { methods: '*', path: '/', level: 'public' },
      { methods: ['GET'], path: '/reports/secret', level: 'admin' },
      { methods: ['GET'], prefix: '/reports/', level: 'read-only' },
      { methods: ['POST', 'PUT'], prefix: '/reports/', level: 'write-only' },
    ],
    default: 'admin',
  }

  it('replace the table of the broker, first match first', async () => {
    const app = await guardedApp({ JWT_SKIP_PATHS: '/unused' }, { rules })
    for (const [method, path, level] of [
      ['GET', '/', 'public'],
      ['GET', '/reports/secret', 'admin'],
      ['HEAD', '/reports/secret', 'admin'],
      ['GET', '/reports/x', 'read-only'],
      ['HEAD', '/reports/x', 'read-only'],
      ['POST', '/reports/x', 'write-only'],
      ['PUT', '/reports/secret', 'write-only'],
      ['DELETE', '/reports/x', 'admin'],
      ['GET', '/reports', 'admin'],
      ['GET', '/health', 'admin'],
      ['POST', '/api/v1/push', 'admin'],
    ] as const) {
      expect(`${method} ${path} ${await observedLevel(app, method, path)}`).toBe(
        `${method} ${path} ${level}`,
      )
    }
  })

  it('default to read-write, never to public', async () => {
    const app = await guardedApp({ JWT_SKIP_PATHS: '/unused' }, { rules: { rules: [] } })
    expect(await observedLevel(app, 'GET', '/')).toBe('read-write')
    expect(await observedLevel(app, 'GET', '/health')).toBe('read-write')
  })

  const good = { methods: '*', path: '/x', level: 'admin' }
  it.each([
    ['an unknown level', { rules: [{ ...good, level: 'root' }] }],
    ['a level in capitals', { rules: [{ ...good, level: 'ADMIN' }] }],
    ['no level', { rules: [{ methods: '*', path: '/x' }] }],
    ['an unknown key', { rules: [{ ...good, paht: '/y' }] }],
    ['an unknown key at the top', { rules: [good], defualt: 'admin' }],
    ['an unknown default', { rules: [good], default: 'anyone' }],
    ['both path and prefix', { rules: [{ ...good, prefix: '/x/' }] }],
    ['neither path nor prefix', { rules: [{ methods: '*', level: 'admin' }] }],
    ['no methods', { rules: [{ path: '/x', level: 'admin' }] }],
    ['an empty list of methods', { rules: [{ ...good, methods: [] }] }],
    ['a method in small letters', { rules: [{ ...good, methods: ['get'] }] }],
    ['a path without a slash', { rules: [{ ...good, path: 'x' }] }],
    ['a path not in normal form', { rules: [{ ...good, path: '/x/../y' }] }],
    ['no list', { rules: {} }],
    ['nothing', {}],
    [
      'a route that its rules put at another level',
      {
        rules: [good],
        default: 'read-write',
        routes: [{ method: 'GET', path: '/x', level: 'public', summary: 'x' }],
      },
    ],
  ])('with %s are refused when the gate is made', (_what, faulty) => {
    const make = (input: object) =>
      // The point is what happens to a table that the compiler never saw.
      brokerAuth(loadAuthConfig(jwtEnvironment()), { rules: input as never, clock: fakeClock() })
    expect(() => make({ rules: [good] })).not.toThrow()
    expect(() => make(faulty)).toThrow()
  })
})
