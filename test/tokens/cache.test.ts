import { describe, expect, it } from 'vitest'
import { VerifiedTokenCache } from '../../src/tokens/index.ts'

describe('the cache of verified tokens', () => {
  it('finds by digest what was stored, and nothing else', () => {
    const cache = new VerifiedTokenCache<{ n: number }>()
    const digest = cache.digest('a.b.c')
    cache.store(digest, { n: 1 }, 5, cache.generation)
    expect(cache.find(cache.digest('a.b.c'))).toEqual({ n: 1 })
    expect(cache.find(cache.digest('a.b.d'))).toBeUndefined()
    expect(digest).not.toContain('a.b.c')
    expect(digest).toHaveLength(32)
  })

  it('is empty after the keys changed, and takes nothing that was verified with the old ones', () => {
    const cache = new VerifiedTokenCache<object>()
    const { generation } = cache
    cache.store('x', {}, 1, generation)
    cache.clear()
    expect(cache.find('x')).toBeUndefined()
    cache.store('y', {}, 1, generation)
    expect(cache.size).toBe(0)
  })

  it('is bounded in entries and in characters', () => {
    const cache = new VerifiedTokenCache<object>()
    for (let n = 0; n < 12_000; n += 1) cache.store(`k${n}`, {}, 1, cache.generation)
    expect(cache.size).toBe(10_000)
    expect(cache.find('k11999')).toBeDefined()
    for (let n = 0; n < 3000; n += 1) cache.store(`long${n}`, {}, 32_768, cache.generation)
    expect(cache.size).toBeLessThanOrEqual(1024)
  })
})
