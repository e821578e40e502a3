import { describe, expect, it } from 'vitest'
import { capturedLog } from '../support/captured-log.ts'
import { closeAfterTest, type GuardedApp, guardedApp } from '../support/guarded-app.ts'
import {
  bodyAnswer,
  chunkedAnswer,
  closedPort,
  dripAnswer,
  endlessAnswer,
  forcedGzipAnswer,
  gzippedAnswer,
  type JwksAnswer,
  keysAnswer,
  MEBIBYTE,
  negotiatedAnswer,
  redirectAnswer,
  resetAnswer,
  silentAnswer,
  sizedAnswer,
  slowHeadersAnswer,
  stalledBodyAnswer,
  startJwksServer,
  statusAnswer,
  truncatedAnswer,
} from '../support/jwks-server.ts'
import { rsaKey } from '../support/keys.ts'
import { mint } from '../support/tokens.ts'

const KEYS = [rsaKey('good').jwk()]
const TOKEN = mint({
  alg: 'RS256',
  key: rsaKey('good').privateKey,
  header: { kid: 'good' },
})
const STRANGER = mint({ alg: 'RS256', header: { kid: 'nobody' } })
const UNKNOWN = [401, { error: 'Unknown key ID' }]

/** Each of these is a failed fetch: old keys stay, and a first fetch yields none. */
const FAILURES: readonly (readonly [string, JwksAnswer])[] = [
  ['accepts and never answers', silentAnswer],
  ['sends the head and stalls the body', stalledBodyAnswer],
  ['drips one byte at a time', dripAnswer],
  ['drips its very head', slowHeadersAnswer],
  ['sends a small body that unpacks to 100 MiB', forcedGzipAnswer(KEYS, 100 * MEBIBYTE)],
  ['resets the connection', resetAnswer],
  ['closes in the middle of the body', truncatedAnswer],
  ['answers 204', statusAnswer(204)],
  ['answers 304', statusAnswer(304)],
  ['answers 500', statusAnswer(500)],
  ['answers 503', statusAnswer(503)],
  ['answers 404', statusAnswer(404)],
  ['answers 401', statusAnswer(401)],
  ['answers 500 with a good set', bodyAnswer(JSON.stringify({ keys: KEYS }), 500)],
  ['answers 404 with a good set', bodyAnswer(JSON.stringify({ keys: KEYS }), 404)],
  ['answers an empty body', bodyAnswer('')],
  ['answers HTML', bodyAnswer('<!doctype html><title>login</title>', 200, 'text/html')],
  ['answers JSON that is cut off', bodyAnswer('{"keys":[')],
  ['answers {}', bodyAnswer('{}')],
  ['answers null', bodyAnswer('null')],
  ['answers an array', bodyAnswer(JSON.stringify(KEYS))],
  ['answers a bare key', bodyAnswer(JSON.stringify(KEYS[0]))],
  ['answers keys: null', bodyAnswer('{"keys":null}')],
  ['answers keys: {}', bodyAnswer('{"keys":{}}')],
  ['answers keys as text', bodyAnswer('{"keys":"none"}')],
  ['answers more than 1 MiB, announced', sizedAnswer(KEYS, MEBIBYTE + 1)],
  ['answers more than 1 MiB, in chunks', chunkedAnswer(KEYS, MEBIBYTE + 1)],
  ['answers without end', endlessAnswer],
]

async function verdict(app: GuardedApp, token: string) {
  const { status, body } = await app.ask('/api/v1/pop', { token })
  return status === 200 ? 200 : [status, body]
}

/** Time enough for a good fetch on a slow machine; for those that hang it is what the test waits for. */
const PATIENT_MS = '20000'
const HANGING_MS = '1000'
const HANGING: ReadonlySet<JwksAnswer> = new Set([
  silentAnswer,
  stalledBodyAnswer,
  dripAnswer,
  slowHeadersAnswer,
])

async function appOn(answer: JwksAnswer, timeoutMs = PATIENT_MS) {
  const server = await startJwksServer()
  closeAfterTest(server.stop)
  server.answer(answer)
  const app = await guardedApp({
    JWT_ALGORITHM: 'RS256',
    JWT_JWKS_URL: server.url,
    JWT_JWKS_TIMEOUT_MS: timeoutMs,
  })
  return { server, app }
}

describe.each(FAILURES)('a key server that %s', (_what, failure) => {
  const timeoutMs = HANGING.has(failure) ? HANGING_MS : PATIENT_MS

  it('at boot: 401 Unknown key ID within the timeout, and healed 5 s later', async () => {
    const { server, app } = await appOn(failure, timeoutMs)
    expect((await app.ask('/health')).status).toBe(200)
    expect(await verdict(app, TOKEN)).toEqual(UNKNOWN)
    server.answer(KEYS)
    app.clock.advance(5000)
    expect(await verdict(app, TOKEN)).toBe(200)
  })

  it('later: the old keys stay, and the unknown kid is 401', async () => {
    const { server, app } = await appOn(keysAnswer(KEYS), timeoutMs)
    expect(await verdict(app, TOKEN)).toBe(200)
    server.answer(failure)
    expect(await verdict(app, STRANGER)).toEqual(UNKNOWN)
    expect(server.fetches).toBe(2)
    expect(await verdict(app, TOKEN)).toBe(200)
    const fresh = mint({
      alg: 'RS512',
      key: rsaKey('good').privateKey,
      header: { kid: 'good' },
    })
    expect(await verdict(app, fresh)).toBe(200)
  })
})

describe('a key server that redirects', () => {
  it.each([301, 302, 303, 307, 308])(
    'with %i is a failure: the target is never asked',
    async (status) => {
      const target = await startJwksServer(KEYS)
      closeAfterTest(target.stop)
      const { server, app } = await appOn(redirectAnswer(target.url, status))
      expect(await verdict(app, TOKEN)).toEqual(UNKNOWN)
      expect(target.fetches).toBe(0)
      server.answer(KEYS)
      app.clock.advance(5000)
      expect(await verdict(app, TOKEN)).toBe(200)
      server.answer(redirectAnswer(target.url, status))
      app.clock.advance(5000)
      expect(await verdict(app, STRANGER)).toEqual(UNKNOWN)
      expect(await verdict(app, TOKEN)).toBe(200)
      expect(target.fetches).toBe(0)
    },
  )
})

describe('a key server that is not there', () => {
  it('is 401 Unknown key ID, and the gate serves on', async () => {
    const app = await guardedApp({
      JWT_ALGORITHM: 'auto',
      JWT_JWKS_URL: `http://127.0.0.1:${await closedPort()}/jwks`,
    })
    expect(await verdict(app, TOKEN)).toEqual(UNKNOWN)
    expect(await verdict(app, mint())).toBe(200)
  })

  it('comes up after boot: a good token is 200 at once, without any wait', async () => {
    const server = await startJwksServer(KEYS)
    closeAfterTest(server.stop)
    await server.stop()
    const log = capturedLog()
    const env = { JWT_ALGORITHM: 'RS256', JWT_JWKS_URL: server.url }
    const app = await guardedApp(env, { logger: log.logger })
    await log.line('JWKS pre-fetch failed')
    await server.start()
    expect(await verdict(app, TOKEN)).toBe(200)
  })

  it('goes away: the cached keys serve on, long past the refresh interval', async () => {
    const { server, app } = await appOn(keysAnswer(KEYS))
    expect(await verdict(app, TOKEN)).toBe(200)
    await server.stop()
    for (const hours of [1, 24, 24 * 30]) {
      app.clock.advance(hours * 3_600_000)
      const token = mint({
        alg: 'RS256',
        key: rsaKey('good').privateKey,
        header: { kid: 'good' },
        claims: { exp: undefined, hours },
      })
      expect(await verdict(app, token)).toBe(200)
      expect(await verdict(app, STRANGER)).toEqual(UNKNOWN)
    }
    await server.start()
    server.answer([rsaKey('next').jwk()])
    app.clock.advance(5000)
    const next = mint({
      alg: 'RS256',
      key: rsaKey('next').privateKey,
      header: { kid: 'next' },
      claims: { exp: undefined },
    })
    expect(await verdict(app, next)).toBe(200)
  })

  it('closes every idle connection between two fetches: the next fetch works all the same', async () => {
    const { server, app } = await appOn(keysAnswer(KEYS))
    expect(await verdict(app, TOKEN)).toBe(200)
    await server.stop()
    await server.start()
    server.answer([rsaKey('next').jwk()])
    const next = mint({
      alg: 'RS256',
      key: rsaKey('next').privateKey,
      header: { kid: 'next' },
    })
    expect(await verdict(app, next)).toBe(200)
  })
})

describe('a key server that behaves', () => {
  it.each([
    ['a set of exactly 1 MiB, announced', sizedAnswer(KEYS, MEBIBYTE)],
    ['a set of exactly 1 MiB, in chunks', chunkedAnswer(KEYS, MEBIBYTE)],
    ['406 unless Accept lists application/jwk-set+json', negotiatedAnswer(KEYS)],
    ['compressing only for those who ask for it', gzippedAnswer(KEYS, 1000)],
    ['a set as text/plain', bodyAnswer(JSON.stringify({ keys: KEYS }), 200, 'text/plain')],
    ['a set with other members', keysAnswer(KEYS, { issuer: 'x', next: null })],
    ['a set with a byte order of its own', bodyAnswer(`\n\t ${JSON.stringify({ keys: KEYS })} \n`)],
  ])('%s works', async (_what, answer) => {
    const { app } = await appOn(answer)
    expect(await verdict(app, TOKEN)).toBe(200)
  })

  it('slowly, but within the timeout, works', async () => {
    const { app } = await appOn((req, res) => {
      setTimeout(() => keysAnswer(KEYS)(req, res), 100)
    })
    expect(await verdict(app, TOKEN)).toBe(200)
  })

  it('is asked by a plain GET without credentials, and Accept lists both JSON types', async () => {
    const { server } = await appOn(keysAnswer(KEYS))
    await server.fetched(1)
    const [request] = server.requests
    expect(request?.method).toBe('GET')
    expect(request?.url).toBe('/.well-known/jwks.json')
    expect(request?.headers).not.toHaveProperty('authorization')
    expect(request?.headers.accept).toContain('application/json')
    expect(request?.headers.accept).toContain('application/jwk-set+json')
  })
})
