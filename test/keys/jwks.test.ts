import { afterEach, describe, expect, it } from 'vitest'
import { JwksSource, type KeyRequest, type Log } from '../../src/keys/index.ts'
import { fakeClock } from '../support/clock.ts'
import {
  heldAnswer,
  keysAnswer,
  silentAnswer,
  startJwksServer,
  statusAnswer,
} from '../support/jwks-server.ts'
import { edKey, type Jwk, rsaKey } from '../support/keys.ts'

const A = rsaKey('a')
const B = rsaKey('b')
const request = (kid: string): KeyRequest => ({ kind: 'rsa', jwkAlgs: ['RS256'], kid })

const cleanups: (() => unknown)[] = []
afterEach(async () => {
  for (const clean of cleanups.splice(0)) await clean()
})

async function sourceOn(keys: readonly Jwk[]) {
  const server = await startJwksServer(keys)
  const clock = fakeClock()
  const lines: string[] = []
  const note = (fields: object, message: string) =>
    void lines.push(JSON.stringify([message, fields]))
  const log: Log = { debug: note, info: note, warn: note, error: note }
  const source = new JwksSource({
    url: server.url,
    kinds: ['rsa', 'ed25519'],
    choice: 'queue',
    timeoutMs: 5000,
    refreshIntervalS: 3600,
    log,
    clock,
  })
  cleanups.push(() => source.close(), server.stop)
  return { server, clock, lines, source }
}

describe('a key set source', () => {
  it('answers a cached key at once, without a promise', async () => {
    const { source } = await sourceOn([A.jwk()])
    await source.ready
    expect(source.candidates(request('a'))).toHaveLength(1)
    expect(source.size).toBe(1)
  })

  it('lets a key that is not cached wait for one shared fetch', async () => {
    const { source, server } = await sourceOn([A.jwk()])
    await source.ready
    const held = heldAnswer(keysAnswer([A.jwk(), B.jwk()]))
    server.answer(held.answer)
    const waiting = Array.from({ length: 20 }, () => source.candidates(request('b')))
    await server.fetched(2)
    expect(source.candidates(request('a'))).toHaveLength(1)
    held.release()
    for (const keys of await Promise.all(waiting)) expect(keys).toHaveLength(1)
    expect(server.fetches).toBe(2)
  })

  it('fetches on demand once in 5 s, but a clock set back does not block it', async () => {
    const { source, server, clock } = await sourceOn([A.jwk()])
    await source.ready
    const ask = async () => {
      expect(await source.candidates(request('zz'))).toEqual([])
      return server.fetches
    }
    expect(await ask()).toBe(2)
    expect(await ask()).toBe(2)
    clock.advance(4999)
    expect(await ask()).toBe(2)
    clock.advance(1)
    expect(await ask()).toBe(3)
    clock.advance(-3_600_000)
    expect(await ask()).toBe(4)
  })

  it('tells of a change when and only when the keys differ', async () => {
    const { source, server, clock } = await sourceOn([A.jwk()])
    await source.ready
    let changes = 0
    const stop = source.onChange(() => {
      changes += 1
    })
    const refetch = async (keys: readonly Jwk[]) => {
      server.answer(keys)
      clock.advance(5000)
      await source.candidates(request('zz'))
      return changes
    }
    expect(await refetch([A.jwk()])).toBe(0)
    expect(await refetch([A.jwk(), B.jwk()])).toBe(1)
    server.answer(statusAnswer(500))
    clock.advance(5000)
    await source.candidates(request('zz'))
    expect(changes).toBe(1)
    expect(source.size).toBe(2)
    stop()
    expect(await refetch([edKey().jwk()])).toBe(1)
  })

  it('close ends a running fetch at once and in silence', async () => {
    const { source, server, lines } = await sourceOn([A.jwk()])
    await source.ready
    server.answer(silentAnswer)
    const waiting = source.candidates(request('zz'))
    await server.fetched(2)
    source.close()
    expect(await waiting).toEqual([])
    expect(lines.join()).not.toContain('JWKS fetch failed')
  })

  it('keeps user, password and query of its address out of the log', async () => {
    const { server } = await sourceOn([])
    const url = new URL(server.url)
    url.username = 'user-x'
    url.password = 'pass-x'
    url.search = '?key=query-x'
    const source = new JwksSource({
      url: url.href,
      kinds: ['rsa'],
      choice: 'hub',
      timeoutMs: 1000,
      refreshIntervalS: 1,
    })
    cleanups.push(() => source.close())
    await source.ready
    expect(source.about).not.toMatch(/user-x|pass-x|query-x/)
  })
})
