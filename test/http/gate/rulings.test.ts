import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { brokerRouteTable, classify } from '../../../src/access/index.ts'
import { Rulings } from '../../../src/http/gate/rulings.ts'

const SKIPPED = ['/health', '/assets/']
const table = brokerRouteTable()
const fresh = () => new Rulings(SKIPPED, table)

const paths = fc.oneof(
  fc.constantFrom(
    '/',
    '/health',
    '/health/',
    '/assets/a.js',
    '/API/V1/SYSTEM/x',
    '/api/v1/system/',
  ),
  fc.constantFrom(...table.routes.map(({ path }) => path)),
  fc.webPath().map((path) => path || '/'),
  fc.string({ unit: 'binary', maxLength: 300 }).map((text) => `/${text}`),
)
const requests = fc.record({
  method: fc.constantFrom('GET', 'HEAD', 'POST', 'DELETE', 'PROPFIND'),
  path: paths,
  loose: fc.boolean(),
})

describe('rulings', () => {
  it('are the same however often and in whatever order they are asked for', () => {
    const kept = fresh()
    fc.assert(
      fc.property(fc.array(requests, { maxLength: 40 }), (row) => {
        for (const request of [...row, ...row]) {
          expect(kept.of(request)).toEqual(fresh().of(request))
        }
      }),
    )
  })

  it('are the levels of the table for each of more paths than are kept', () => {
    const kept = fresh()
    for (let round = 0; round < 2; round += 1) {
      for (let i = 0; i < 2500; i += 1) {
        const path = `/api/v1/${i % 2 ? 'system' : 'pop'}/${i}`
        const { levels } = kept.of({ method: 'GET', path, loose: false })
        expect(levels).toEqual(classify(table, 'GET', path).levels)
      }
    }
  })

  it('of one method, or of a router that takes other spellings, say nothing about another', () => {
    const kept = fresh()
    const levels = (method: string, path: string, loose: boolean) =>
      kept.of({ method, path, loose }).levels
    expect(levels('POST', '/api/v1/push', false)).toEqual(['write-only'])
    expect(levels('GET', '/api/v1/push', false)).toEqual(['read-write'])
    expect(levels('GET', '/API/V1/SYSTEM/x', false)).toEqual(['read-write'])
    expect(levels('GET', '/API/V1/SYSTEM/x', true)).toEqual(['read-write', 'admin'])
  })

  it('take both readings of a path that the framework reads in another way', () => {
    const kept = fresh()
    const request = { method: 'GET', path: '/health', loose: false }
    expect(kept.of(request).skipped).toBe(true)
    expect(kept.of({ ...request, readAs: '/api/v1/system/x' })).toEqual({
      skipped: false,
      levels: ['admin'],
    })
    expect(kept.of(request).skipped).toBe(true)
  })
})
