import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { PASSED_BY, ROLES } from '../support/guarded-app.ts'
import {
  type RouteRow,
  type RoutesApp,
  type RoutesAppOptions,
  readRouteTable,
  startRoutesApp,
} from '../support/routes-app.ts'
import { roleToken } from '../support/tokens.ts'

/** Everyone who may ask; `undefined` has no token. */
const ASKERS = [undefined, ...ROLES]
const TOKENS = new Map(ROLES.map((role) => [role, roleToken(role)]))

/** Changes one place of a path; `at` picks the place, 0 to below 1. */
type Respelling = (path: string, at: number) => string

function atSlash(put: string): Respelling {
  return (path, at) => {
    const slashes = [...path.matchAll(/\//g)].map((match) => match.index)
    const index = slashes[Math.floor(at * slashes.length)] ?? 0
    return path.slice(0, index) + put + path.slice(index + 1)
  }
}

function atCharacter(change: (character: string) => string): Respelling {
  return (path, at) => {
    const index = Math.floor(at * path.length)
    return path.slice(0, index) + change(path[index] ?? '') + path.slice(index + 1)
  }
}

const percent = (character: string) =>
  `%${(character.charCodeAt(0) & 0xff).toString(16).padStart(2, '0')}`
const otherCase = (character: string) =>
  character === character.toLowerCase() ? character.toUpperCase() : character.toLowerCase()

/** Each kind of respelling is as likely as the others, however many members it has. */
const RESPELLINGS: readonly (readonly Respelling[])[] = [
  ['//', '///', '/./', '/../', '/x/../', '/x/..//', '/%2e/', '/%2E%2e/', '/.%2e/', '/%2e./']
    .concat(['/x/%2e%2e/', '/x/..%2f', '%2f', '%2F', '/%2f', '\\', '/\\', '%5c', '%5C', '%252f'])
    .concat(['/..;/', '/;/', '/.;x=1/', '/%00/', '/%20/', '/%c0%af', '/%ef%bc%8f'])
    .concat(['/api/../', '/health/../', '/assets/../', '/assets/..%2f', '/api/v1/status/../'])
    .map(atSlash),
  [
    atCharacter(percent),
    atCharacter((character) => percent(character).toUpperCase()),
    atCharacter((character) => percent(character).replace('%', '%25')),
    atCharacter((character) => `${character}${character}`),
    atCharacter(() => ''),
  ],
  [
    atCharacter(otherCase),
    (path) => path.toUpperCase(),
    (path, at) => path.slice(0, at * path.length) + path.slice(at * path.length).toUpperCase(),
  ],
  ['/', '/', '/', '//', '/.', '/..', '/../', '/%2e%2e', '%2f', '%20', '%00', ';', ';x=1', '.json']
    .concat(['?', '?x=1', '?/../x', '#', '#/x', '%23', '%3f', '\\', '/x/..', '/x/../', '%', '%zz'])
    .map(
      (tail): Respelling =>
        (path) =>
          path + tail,
    ),
  ['/', '//', '/.', '/..', '/x/..', '/health/..', '/assets/..', '/assets/%2e%2e', '/%2e', '\\']
    .concat(['http://127.0.0.1', 'HTTP://x', 'http://', 'http:', 'https://u:p@x:1', 'x://y', '//x'])
    .map(
      (head): Respelling =>
        (path) =>
          head + path,
    ),
]

const parameter = fc.oneof(
  fc.constantFrom('q', 'a%2Fb', '..', '.', '%2e%2e', '%2E', 'system', 'refresh', 'lagging', 'a:b'),
  fc.constantFrom('health', '%2f..%2f', '..%2Fsystem', '..%5Csystem', '%C3%BC', '', 'x;y', 'names'),
  fc.string({ minLength: 1, maxLength: 6 }).map(encodeURIComponent),
)

/** Fills the parameters and wildcards of a route's pattern. */
function filled(pattern: string, values: readonly string[]): string {
  let next = 0
  return pattern
    .replaceAll(/[{}]/g, '')
    .replaceAll(/[:*][A-Za-z]+/g, () => values[next++ % values.length] ?? 'q')
}

/** A spelling of one route: its pattern filled, then respelled at up to three places. */
function spellingsOf(row: RouteRow, mount: string): fc.Arbitrary<string> {
  const changes = fc.array(
    fc.tuple(
      fc.oneof(...RESPELLINGS.map((kind) => fc.constantFrom(...kind))),
      fc.double({ min: 0, max: 0.999, noNaN: true }),
    ),
    { maxLength: 3 },
  )
  return fc
    .tuple(fc.array(parameter, { minLength: 3, maxLength: 3 }), changes)
    .map(([values, respellings]) =>
      respellings.reduce(
        (path, [respell, at]) => respell(path, at),
        mount + filled(row.path, values),
      ),
    )
}

/** Asks with every credential; a handler that ran must be one whose level the asker passes. */
async function expectGuarded(app: RoutesApp, method: string, target: string) {
  const askers = ASKERS.map(async (asker) => {
    const token = asker && TOKENS.get(asker)
    const headers = token === undefined ? {} : { authorization: `Bearer ${token}` }
    const { ran, status } = await app.run(method, target, headers)
    expect(status, `${method} ${target}`).toBeLessThan(500)
    if (!ran) return
    const allowed = asker ? PASSED_BY[ran.level].includes(asker) : ran.level === 'public'
    expect(allowed, `${asker} ran ${ran.method} ${ran.path} by ${method} ${target}`).toBe(true)
  })
  await Promise.all(askers)
}

/** Characters that no HTTP client can put into a request line. */
const SENDABLE = /^[\u0021-\u00ff]+$/

const APPS: readonly (readonly [string, RoutesAppOptions])[] = [
  ['at the root', {}],
  ['at a base path', { mount: '/queue' }],
  ['under the default, loose routing', { looseRouting: true }],
  ['with a skipped prefix', { env: { JWT_SKIP_PATHS: '/health,/assets/,/open/,/' } }],
]

describe.each(APPS)(
  'whatever the spelling, no handler runs below its own level: %s',
  (_where, options) => {
    let app: RoutesApp
    beforeAll(async () => {
      app = await startRoutesApp(options)
    })
    afterAll(() => app.close())

    const rows = readRouteTable().routes
    it.each(rows.map((row) => [row.method, row.path, row] as const))(
      '%s %s',
      async (_method, _path, row) => {
        const methods = fc.constantFrom(row.method, row.method, row.method, 'GET', 'HEAD', 'DELETE')
        const spellings = spellingsOf(row, options.mount ?? '')
        const property = fc.asyncProperty(spellings, methods, async (target, method) => {
          fc.pre(SENDABLE.test(target))
          await expectGuarded(app, method, target)
        })
        await fc.assert(property, { numRuns: 10 })
      },
    )
  },
)

describe('a plainly spelled route', () => {
  it('runs for exactly those who pass its level', async () => {
    const app = await startRoutesApp()
    for (const row of app.rows) {
      const target = filled(row.path, ['one', 'two', 'three'])
      for (const asker of ASKERS) {
        const token = asker && TOKENS.get(asker)
        const headers = token === undefined ? {} : { authorization: `Bearer ${token}` }
        const { ran } = await app.run(row.method, target, headers)
        const allowed = asker ? PASSED_BY[row.level].includes(asker) : row.level === 'public'
        expect(ran, `${asker}: ${row.method} ${target}`).toEqual(allowed ? row : undefined)
      }
    }
    await app.close()
  })
})
