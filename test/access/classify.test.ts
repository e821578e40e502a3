import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { brokerRouteTable, classify, loadRouteTable, satisfies } from '../../src/access/index.ts'

const TABLE = brokerRouteTable()
const levels = (method: string, path: string, loose = false) =>
  classify(TABLE, method, path, loose).levels

describe('classification by the table of the broker', () => {
  it.each([
    ['GET', '/health', 'public'],
    ['POST', '/metrics/prometheus', 'public'],
    ['GET', '/assets/x/y.js', 'public'],
    ['GET', '/favicon.ico', 'public'],
    ['DELETE', '/auth/me', 'public'],
    ['GET', '/assets', 'read-write'],
    ['GET', '/healthz', 'read-write'],
    ['GET', '/health/', 'read-write'],
    ['GET', '/api/v1/system', 'read-write'],
    ['GET', '/api/v1/system/', 'admin'],
    ['PUT', '/internal/x', 'admin'],
    ['GET', '/api/v1/stats/refresh', 'admin'],
    ['DELETE', '/api/v1/consumer-groups/g', 'admin'],
    ['DELETE', '/api/v1/consumer-groups', 'read-write'],
    ['DELETE', '/api/v1/resources/queues/q/', 'admin'],
    ['DELETE', '/api/v1/resources/other', 'read-write'],
    ['GET', '/api/v1/statusx', 'read-only'],
    ['HEAD', '/api/v1/dlq', 'read-only'],
    ['POST', '/api/v1/dlq', 'read-write'],
    ['GET', '/api/v1/resources', 'read-write'],
    ['GET', '/status/', 'read-write'],
    ['PATCH', '/streams/v1/state/get', 'read-only'],
    ['POST', '/api/v1/push', 'write-only'],
    ['GET', '/api/v1/push', 'read-write'],
    ['POST', '/api/v1/pushx', 'read-write'],
    ['POST', '/API/V1/PUSH', 'read-write'],
    ['GET', '/__proto__', 'read-write'],
  ])('%s %s is %s', (method, path, level) => {
    expect(levels(method, path)).toEqual([level])
  })

  it('a path not in normal form has to satisfy both readings', () => {
    expect(levels('GET', '/api/v1/%73tatus')).toEqual(['read-write', 'read-only'])
    expect(levels('GET', '/x/../api/v1/system/y')).toEqual(['read-write', 'admin'])
    expect(levels('GET', '/api/v1/resources/queues/a%2Fb')).toEqual(['read-only'])
  })

  it('a path is public only if every reading is', () => {
    expect(levels('GET', '/assets/../api/v1/system/x')).toEqual(['admin'])
    expect(levels('GET', '//health')).toEqual(['read-write'])
    expect(levels('GET', '/assets/a%2Fb')).toEqual(['public'])
  })
})

describe('for a router that ignores letter case and trailing slashes', () => {
  it('the loose reading has to hold too', () => {
    expect(levels('GET', '/API/V1/SYSTEM/X', true)).toEqual(['read-write', 'admin'])
    expect(levels('GET', '/api/v1/stats/refresh/', true)).toEqual(['read-write', 'admin'])
    expect(levels('POST', '/api/v1/push', true)).toEqual(['write-only'])
    expect(levels('GET', '/HEALTH', true)).toEqual(['read-write'])
    expect(levels('GET', '/health', true)).toEqual(['public'])
  })

  it('rules written with capitals still count', () => {
    const table = loadRouteTable({
      rules: [{ methods: '*', prefix: '/Admin/', level: 'admin' }],
      default: 'read-only',
    })
    expect(classify(table, 'GET', '/Admin/x', true).levels).toEqual(['admin'])
    expect(classify(table, 'GET', '/admin/x', true).levels).toEqual(['read-only', 'admin'])
  })
})

it('no spelling of a path asks for less than its normal form', () => {
  const spell = fc.constantFrom(
    (text: string) => text,
    (text: string) => text.replace(/\/(?=.)/, '//'),
    (text: string) => text.replace(/\/(?=.)/, '/./'),
    (text: string) => text.replace(/\/(?=.)/, '/x/../'),
    // A letter inside an escape is left: `%6%65` is no spelling of anything, and no router reads it as `%6e`.
    (text: string) =>
      text.replace(/(?<!%[0-9a-f]?)[a-z]/, (c) => `%${c.charCodeAt(0).toString(16)}`),
    (text: string) => `/assets/..${text}`,
    (text: string) => `/health/%2e%2e${text}`,
  )
  const route = fc.constantFrom(...TABLE.routes)
  fc.assert(
    fc.property(route, fc.array(spell, { maxLength: 4 }), ({ method, path, level }, spells) => {
      const plain = path.replaceAll(/[:*]\w+|[{}]/g, 'v')
      const asked = levels(
        method,
        spells.reduce((text, apply) => apply(text), plain),
      )
      for (const role of ['read-only', 'write-only', 'read-write', 'admin'] as const) {
        const passes = asked.every((each) => satisfies([role], each))
        if (passes) expect(satisfies([role], level)).toBe(true)
      }
    }),
    { numRuns: 2000 },
  )
})
