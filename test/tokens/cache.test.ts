import { describe, expect, it } from 'vitest'
import { VerifiedTokenCache } from '../../src/tokens/index.ts'

describe('the cache of verified tokens', () => {
  it('finds what was stored for exactly this token', () => {
    const cache = new VerifiedTokenCache<{ n: number }>()
    cache.store('a.b.c', { n: 1 }, cache.generation)
    expect(cache.find('a.b.c')).toEqual({ n: 1 })
    expect(cache.find('a.b.d')).toBeUndefined()
  })

  it('is empty after the keys changed, and takes nothing that was verified with the old ones', () => {
    const cache = new VerifiedTokenCache<object>()
    const { generation } = cache
    cache.store('x', {}, generation)
    expect(cache.find('x')).toBeDefined()
    cache.clear()
    expect(cache.find('x')).toBeUndefined()
    cache.store('y', {}, generation)
    expect([cache.size, cache.find('y')]).toEqual([0, undefined])
  })

  it('finds nothing when it keeps none', () => {
    const cache = new VerifiedTokenCache<object>(0)
    cache.store('x', {}, cache.generation)
    expect(cache.find('x')).toBeUndefined()
  })

  it('is bounded in entries and in characters', () => {
    const cache = new VerifiedTokenCache<object>()
    for (let n = 0; n < 12_000; n += 1) cache.store(`k${n}`, {}, cache.generation)
    expect(cache.size).toBe(10_000)
    expect(cache.find('k11999')).toBeDefined()
    for (let n = 0; n < 3000; n += 1) {
      cache.store(`long${n}`.padEnd(32_768), {}, cache.generation)
    }
    expect(cache.size).toBeLessThanOrEqual(1024)
  })
})
