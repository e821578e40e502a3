import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { JwkDirectory, type KeyRequest } from '../../src/keys/index.ts'
import { type FakeClock, fakeClock } from '../support/clock.ts'
import {
  bodyAnswer,
  type JwksServer,
  redirectAnswer,
  resetAnswer,
  silentAnswer,
  startJwksServer,
  statusAnswer,
} from '../support/jwks-server.ts'
import { ecKey, edKey, type Jwk } from '../support/keys.ts'

let server: JwksServer
let clock: FakeClock
let directory: JwkDirectory
let warnings: object[]
beforeEach(async () => {
  server = await startJwksServer()
  clock = fakeClock()
  warnings = []
  const nothing = () => undefined
  directory = new JwkDirectory({
    baseUrl: `http://127.0.0.1:${server.port}/pubsub/keys/`,
    clock,
    timeoutMs: 300,
    log: { debug: nothing, info: nothing, error: nothing, warn: (fields) => warnings.push(fields) },
  })
  serve(edKey('a').jwk({ alg: 'EdDSA' }))
})
afterEach(async () => {
  directory.close()
  await server.stop()
})

const serve = (jwk: Jwk) => server.answer(bodyAnswer(JSON.stringify(jwk)))
const request = (kid?: string): KeyRequest => ({ kind: 'ed25519', jwkAlgs: ['EdDSA'], kid })
const found = async (kid?: string) => (await directory.candidates(request(kid))).length

describe('keys behind a {kid}.jwk address', () => {
  it('fetches {baseUrl}/{kid}.jwk once and keeps it', async () => {
    expect([await found('a'), await found('a')]).toEqual([1, 1])
    expect(server.requests.map(({ url }) => url)).toEqual(['/pubsub/keys/a.jwk'])
  })

  it('answers at once when the key is at hand', async () => {
    await found('a')
    expect(directory.candidates(request('a'))).toBeInstanceOf(Array)
  })

  it('a hundred concurrent requests share one fetch', async () => {
    const answers = await Promise.all(Array.from({ length: 100 }, () => found('a')))
    expect(new Set(answers)).toEqual(new Set([1]))
    expect(server.fetches).toBe(1)
  })

  it('asks nothing for a token without kid', async () => {
    expect(await found(undefined)).toBe(0)
    expect(server.fetches).toBe(0)
  })

  it('a key of another algorithm is no candidate', async () => {
    const wrong: KeyRequest = { kind: 'ec-p256', jwkAlgs: ['ES256'], kid: 'a' }
    expect(await directory.candidates(wrong)).toEqual([])
  })

  it('an unknown kid is asked for at most every 5 s', async () => {
    server.answer(statusAnswer(404))
    expect([await found('x'), await found('x')]).toEqual([0, 0])
    clock.advance(4999)
    await found('x')
    expect(server.fetches).toBe(1)
    clock.advance(1)
    serve(edKey('x').jwk({ alg: 'EdDSA' }))
    expect(await found('x')).toBe(1)
    expect(server.fetches).toBe(2)
  })

  it('a flood of invented kids costs at most 20 fetches in 5 s', async () => {
    server.answer(statusAnswer(404))
    await Promise.all(Array.from({ length: 200 }, (_, n) => found(`kid-${n}`)))
    expect(server.fetches).toBe(20)
    clock.advance(5000)
    await found('kid-500')
    expect(server.fetches).toBe(21)
  })

  it('a key is confirmed in the background from 15 s on', async () => {
    await found('a')
    clock.advance(14_999)
    await found('a')
    expect(server.fetches).toBe(1)
    clock.advance(1)
    expect(directory.candidates(request('a'))).toBeInstanceOf(Array)
    await server.fetched(2)
  })

  it('a key that nobody confirmed for 30 s is asked for before it is used', async () => {
    await found('a')
    server.answer(statusAnswer(404))
    clock.advance(30_000)
    expect(await found('a')).toBe(0)
    expect(server.fetches).toBe(2)
  })

  it('listeners hear of a key that is gone or changed, not of one that was confirmed', async () => {
    let changes = 0
    directory.onChange(() => {
      changes += 1
    })
    await found('a')
    clock.advance(30_000)
    await found('a')
    expect(changes).toBe(0)
    serve(edKey('b').jwk({ alg: 'EdDSA', kid: 'a' }))
    clock.advance(30_000)
    await found('a')
    expect(changes).toBe(1)
    server.answer(statusAnswer(404))
    clock.advance(30_000)
    await found('a')
    expect(changes).toBe(2)
  })

  it('an outage keeps the key for an hour without making requests wait, then it is refused', async () => {
    await found('a')
    server.answer(statusAnswer(503))
    clock.advance(30_000)
    expect(await found('a')).toBe(1)
    expect(warnings).toHaveLength(1)
    clock.advance(5000)
    expect(directory.candidates(request('a'))).toBeInstanceOf(Array)
    await server.fetched(3)
    clock.advance(3_600_000)
    expect(await found('a')).toBe(0)
  })

  it.each([
    ['a redirect', redirectAnswer('http://127.0.0.1:1/')],
    ['a reset', resetAnswer],
    ['silence', silentAnswer],
    ['a 500', statusAnswer(500)],
    ['no JSON', bodyAnswer('{')],
    ['a private key', bodyAnswer(JSON.stringify(edKey('a').privateJwk({ alg: 'EdDSA' })))],
    ['a symmetric key', bodyAnswer('{"kty":"oct","kid":"a","alg":"HS256","k":"c2VjcmV0"}')],
    ['the key of another kid', bodyAnswer(JSON.stringify(edKey('b').jwk({ alg: 'EdDSA' })))],
    ['a key without alg', bodyAnswer(JSON.stringify(ecKey('a').jwk()))],
    ['too much', bodyAnswer(`{"x":"${'x'.repeat(70_000)}"}`)],
  ])('%s gives no key and one line in the log', async (_what, answer) => {
    server.answer(answer)
    expect(await found('a')).toBe(0)
    expect(warnings).toHaveLength(1)
    expect(JSON.stringify(warnings)).not.toContain(String(edKey('a').privateJwk()['d']))
  })
})
