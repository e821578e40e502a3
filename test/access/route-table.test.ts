import { describe, expect, it } from 'vitest'
import {
  brokerRouteTable,
  checkRoutes,
  checkRows,
  loadRouteTable,
  RouteTableError,
} from '../../src/access/index.ts'

const RULE = { methods: '*', path: '/x', level: 'admin' }
const ROW = { method: 'GET', path: '/x', level: 'admin', summary: 'An example' }

function problemsOf(run: () => unknown): string {
  try {
    run()
  } catch (error) {
    if (error instanceof RouteTableError) return error.problems.join('\n')
    throw error
  }
  return ''
}

describe('a route table', () => {
  it.each([
    ['no object', []],
    ['no rules', {}],
    ['an unknown key', { rules: [], ruels: [] }],
    ['an unknown key in a rule', { rules: [{ ...RULE, why: 'x' }] }],
    ['an unknown level', { rules: [{ ...RULE, level: 'root' }] }],
    ['an unknown default', { rules: [], default: 'none' }],
    ['a rule with path and prefix', { rules: [{ ...RULE, prefix: '/x' }] }],
    ['a rule with neither', { rules: [{ methods: '*', level: 'admin' }] }],
    ['a path without slash', { rules: [{ ...RULE, path: 'x' }] }],
    ['a path not in normal form', { rules: [{ ...RULE, path: '/a//b' }] }],
    ['a path with a query', { rules: [{ ...RULE, path: '/a?b' }] }],
    ['no methods', { rules: [{ ...RULE, methods: [] }] }],
    ['a method in small letters', { rules: [{ ...RULE, methods: ['get'] }] }],
    ['a rule for HEAD', { rules: [{ ...RULE, methods: ['HEAD'] }] }],
    ['a row without summary', { rules: [RULE], routes: [{ ...ROW, summary: '' }] }],
    ['an unknown key in a row', { rules: [RULE], routes: [{ ...ROW, mark: 'core' }] }],
  ])('with %s is refused', (_what, table) => {
    expect(problemsOf(() => loadRouteTable(table))).not.toBe('')
  })

  it('defaults to read-write', () => {
    expect(loadRouteTable({ rules: [] }).levelOf('GET', '/')).toBe('read-write')
  })

  it('is decided by the first rule that fits', () => {
    const table = loadRouteTable({
      rules: [RULE, { methods: ['GET'], prefix: '/', level: 'public' }],
    })
    expect(table.levelOf('GET', '/x')).toBe('admin')
    expect(table.levelOf('GET', '/y')).toBe('public')
    expect(table.levelOf('POST', '/y')).toBe('read-write')
  })
})

describe('rows against rules', () => {
  const rows = (level: string, path: string) => () =>
    checkRows(
      loadRouteTable({
        rules: [
          { methods: '*', path: '/a/secret', level: 'admin' },
          { methods: '*', prefix: '/a/', level: 'read-only' },
          { methods: '*', prefix: '/icon', level: 'public' },
        ],
        routes: [{ ...ROW, path, level }],
      }),
    )

  it('agree for every row of the broker', () => {
    expect(problemsOf(() => checkRows(brokerRouteTable()))).toBe('')
  })

  it('a row at another level than its rules is named with both levels', () => {
    expect(problemsOf(rows('admin', '/a/list'))).toContain('/a/list: the row says admin')
  })

  it('a parameter where a rule has a literal is found', () => {
    expect(problemsOf(rows('read-only', '/a/:name'))).toContain('admin')
    expect(problemsOf(rows('read-only', '/a/*rest'))).toContain('admin')
    expect(problemsOf(rows('read-only', '/a/:name/x'))).toBe('')
  })

  it('optional parts are judged with and without', () => {
    expect(problemsOf(rows('public', '/icon{*rest}'))).toBe('')
    expect(problemsOf(rows('read-only', '/a{/:name}'))).toContain('read-write')
  })

  it('a row that stands twice is named', () => {
    const table = loadRouteTable({ rules: [RULE], routes: [ROW, ROW] })
    expect(problemsOf(() => checkRows(table))).toContain('GET /x: has more than one row')
  })
})

describe('rows against the router', () => {
  const table = loadRouteTable({ rules: [RULE], routes: [ROW] })

  it('agree in both directions', () => {
    expect(problemsOf(() => checkRoutes(table, [{ method: 'GET', path: '/x' }]))).toBe('')
    const broker = brokerRouteTable()
    expect(problemsOf(() => checkRoutes(broker, broker.routes))).toBe('')
    expect(broker.routes.length).toBeGreaterThanOrEqual(73)
  })

  it('a route without a row and a row without a route are both named', () => {
    const problems = problemsOf(() => checkRoutes(table, [{ method: 'POST', path: '/x' }]))
    expect(problems).toContain('POST /x: is served without a row')
    expect(problems).toContain('GET /x: has a row but no route')
  })
})
