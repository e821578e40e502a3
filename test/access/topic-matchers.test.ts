import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  compileMatcher,
  createTopicMatchers,
  MatchCache,
  SharedCacheError,
} from '../../src/access/index.ts'

const BASE = 'https://hub.shop.example/.well-known/mercure'

describe('matcher caches (section 20, H35)', () => {
  it('give the same answers as no cache, hit or miss', () => {
    const patterns = ['/books/:id', 'https://shop.example/*', '*', '/a/*', 'https://*.example/:x']
    const topics = ['/books/1', '/books/1/2', 'https://shop.example/z', 'foo', 'urn:x', '/a/', '*']
    // Three entries for 35 pairs: most answers push another one out.
    const small = createTopicMatchers(BASE, new MatchCache(3))
    const none = createTopicMatchers(BASE, new MatchCache(0))
    fc.assert(
      fc.property(
        fc.constantFrom(...patterns),
        fc.constantFrom(...topics),
        fc.constantFrom('exact', 'urlpattern'),
        (pattern, topic, type) => {
          const expected = compileMatcher({ type, pattern }, BASE).matches(topic)
          for (const matchers of [small, none]) {
            expect(matchers.compile({ type, pattern }).matches(topic)).toBe(expected)
            expect(matchers.compile({ type, pattern }).matches(topic)).toBe(expected)
          }
        },
      ),
      { numRuns: 500 },
    )
  })

  it('never mistake one pair of pattern and topic for another', () => {
    const matchers = createTopicMatchers(BASE, new MatchCache(100))
    expect(matchers.compile({ type: 'urlpattern', pattern: '/a' }).matches('/a')).toBe(true)
    expect(matchers.compile({ type: 'exact', pattern: '/a' }).matches(`${BASE}/../../a`)).toBe(
      false,
    )
    expect(matchers.compile({ type: 'urlpattern', pattern: '/a' }).matches('/b')).toBe(false)
  })

  it('compile an equal pattern once', () => {
    const matchers = createTopicMatchers(BASE, new MatchCache(100))
    const first = matchers.compile({ type: 'urlpattern', pattern: '/x/:id' })
    expect(matchers.compile({ type: 'urlpattern', pattern: '/x/:id' })).toBe(first)
  })

  it('belong to one base URL: a second hub with another one is refused at start-up', () => {
    const cache = new MatchCache(100)
    createTopicMatchers(BASE, cache)
    createTopicMatchers(BASE, cache)
    const other = 'https://other.example/.well-known/mercure'
    expect(() => createTopicMatchers(other, cache)).toThrow(SharedCacheError)
  })

  it('two hubs answer by their own base', () => {
    const here = createTopicMatchers(BASE, new MatchCache(100))
    const there = createTopicMatchers(
      'https://mercure-hub.invalid/.well-known/mercure',
      new MatchCache(100),
    )
    const matcher = { type: 'urlpattern', pattern: '/books/:id' } as const
    expect(here.compile(matcher).matches('https://hub.shop.example/books/1')).toBe(true)
    expect(there.compile(matcher).matches('https://hub.shop.example/books/1')).toBe(false)
    expect(there.compile(matcher).matches('/books/1')).toBe(true)
  })

  it('do not keep long topics', () => {
    const cache = new MatchCache(100)
    let asked = 0
    const ask = (): boolean => {
      asked += 1
      return true
    }
    for (const topic of ['a'.repeat(2000), 'a'.repeat(2000), 'b', 'b']) {
      expect(cache.remember('/p', topic, ask)).toBe(true)
    }
    expect(asked).toBe(3)
  })
})
