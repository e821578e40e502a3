import net from 'node:net'
import { describe, expect, it } from 'vitest'
import { closeAfterTest, type GuardedApp, guardedApp } from '../support/guarded-app.ts'
import {
  heldAnswer,
  type JwksServer,
  keysAnswer,
  startJwksServer,
  statusAnswer,
} from '../support/jwks-server.ts'
import { type Jwk, type KeyFixture, rsaKey } from '../support/keys.ts'
import { pipelined } from '../support/raw-request.ts'
import { mint, segment } from '../support/tokens.ts'

const OLD = rsaKey('old')
const NEW = rsaKey('new')
const UNKNOWN = [401, { error: 'Unknown key ID' }]

function signedBy(key: KeyFixture, kid: string | undefined = key.kid) {
  return mint({ alg: 'RS256', key: key.privateKey, header: { kid } })
}

/** A token that names this kid; nobody gets as far as its signature. */
function naming(kid: string) {
  return `${segment({ alg: 'RS256', kid })}.${segment({ role: 'admin' })}.AAAA`
}

/** A gate on a key server whose boot fetch has been answered. */
async function warmApp(keys: readonly Jwk[], env: Record<string, string> = {}) {
  const server = await startJwksServer(keys)
  closeAfterTest(server.stop)
  const app = await guardedApp({ JWT_ALGORITHM: 'RS256', JWT_JWKS_URL: server.url, ...env })
  await server.fetched(1)
  expect(await verdict(app, signedBy(OLD))).toBe(200)
  return { server, app }
}

async function verdict(app: GuardedApp, token: string) {
  const { status, body } = await app.ask('/api/v1/pop', { token })
  return status === 200 ? 200 : [status, body]
}

/** Sends the requests, `width` at a time, and counts the answers by status. */
async function flood(app: GuardedApp, tokens: Iterable<string>, width: number) {
  const counts = new Map<number, number>()
  const queue = tokens[Symbol.iterator]()
  const worker = async () => {
    for (let next = queue.next(); !next.done; next = queue.next()) {
      const { status } = await app.ask('/api/v1/pop', { token: next.value })
      counts.set(status, (counts.get(status) ?? 0) + 1)
    }
  }
  await Promise.all(Array.from({ length: width }, worker))
  return Object.fromEntries(counts)
}

describe('an unknown kid', () => {
  it('triggers one re-fetch and a second lookup: a rotated key is 200 on the same request', async () => {
    const { server, app } = await warmApp([OLD.jwk()])
    server.answer([OLD.jwk(), NEW.jwk()])
    expect(await verdict(app, signedBy(NEW))).toBe(200)
    expect(await verdict(app, signedBy(OLD))).toBe(200)
    expect(server.fetches).toBe(2)
  })

  it('that is unknown after the re-fetch too is 401 Unknown key ID', async () => {
    const { server, app } = await warmApp([OLD.jwk()])
    expect(await verdict(app, naming('nobody'))).toEqual(UNKNOWN)
    expect(server.fetches).toBe(2)
  })

  it('fetches at most once per 5 s, counted from the start of the on-demand fetch', async () => {
    const { server, app } = await warmApp([OLD.jwk()])
    expect(await verdict(app, naming('a'))).toEqual(UNKNOWN)
    app.clock.advance(4999)
    server.answer([OLD.jwk(), NEW.jwk()])
    expect(await verdict(app, signedBy(NEW))).toEqual(UNKNOWN)
    expect(server.fetches).toBe(2)
    app.clock.advance(1)
    expect(await verdict(app, signedBy(NEW))).toBe(200)
    expect(server.fetches).toBe(3)
  })

  it('the time that a fetch takes belongs to its 5 s', async () => {
    const { server, app } = await warmApp([OLD.jwk()])
    const held = heldAnswer(keysAnswer([OLD.jwk()]))
    server.answer(held.answer)
    const first = verdict(app, naming('a'))
    await server.fetched(2)
    app.clock.advance(5000)
    held.release()
    expect(await first).toEqual(UNKNOWN)
    expect(await verdict(app, naming('b'))).toEqual(UNKNOWN)
    expect(server.fetches).toBe(3)
  })

  it('failed fetches count too: none at 1 s, one at 6 s, which heals', async () => {
    const { server, app } = await warmApp([OLD.jwk()])
    server.answer(statusAnswer(500))
    expect(await verdict(app, signedBy(NEW))).toEqual(UNKNOWN)
    server.answer([NEW.jwk()])
    app.clock.advance(1000)
    expect(await verdict(app, signedBy(NEW))).toEqual(UNKNOWN)
    expect(server.fetches).toBe(2)
    app.clock.advance(5000)
    expect(await verdict(app, signedBy(NEW))).toBe(200)
    expect(server.fetches).toBe(3)
  })

  it('a clock that was set back does not stop fetches for as long as the step', async () => {
    const { server, app } = await warmApp([OLD.jwk()])
    expect(await verdict(app, naming('a'))).toEqual(UNKNOWN)
    app.clock.advance(-600_000)
    const naked = { iat: undefined }
    server.answer([OLD.jwk(), NEW.jwk()])
    app.clock.advance(5000)
    const token = mint({
      alg: 'RS256',
      key: NEW.privateKey,
      header: { kid: 'new' },
      claims: naked,
    })
    expect(await verdict(app, token)).toBe(200)
  })

  it('a client that goes away while it waits for the fetch does no harm', async () => {
    const { server, app } = await warmApp([OLD.jwk()])
    const held = heldAnswer(keysAnswer([NEW.jwk()]))
    server.answer(held.answer)
    const gone = net.connect(app.port, '127.0.0.1')
    gone.write(`GET /x HTTP/1.1\r\nHost: x\r\nAuthorization: ${signedBy(NEW)}\r\n\r\n`)
    await server.fetched(2)
    gone.resetAndDestroy()
    held.release()
    expect(await verdict(app, signedBy(NEW))).toBe(200)
    expect(server.fetches).toBe(2)
  })

  it('a flood of 10 000 requests causes at most one fetch per 5 s', async () => {
    const { server, app } = await warmApp([OLD.jwk()])
    for (let wave = 0; wave < 100; wave += 1) {
      // 200 ms each: the flood lasts 20 s by the clock of the gate.
      app.clock.advance(200)
      const heads = Array.from({ length: 100 }, (_, i) => [
        `Authorization: Bearer ${naming(`stranger-${wave}-${i}`)}`,
      ])
      const statuses = await pipelined(app.port, '/api/v1/pop', heads)
      expect(statuses).toEqual(Array.from({ length: 100 }, () => 401))
    }
    expect(server.fetches).toBe(1 + 4)
    expect(app.reached).toHaveLength(1)
    expect(await verdict(app, signedBy(OLD))).toBe(200)
  })
})

describe('concurrent requests share one fetch', () => {
  const hundred = (token: string) => Array.from({ length: 100 }, () => token)

  /** Holds the next fetch until all hundred requests wait, then lets `answer` go. */
  async function burst(app: GuardedApp, server: JwksServer, keys: readonly Jwk[] | 500) {
    const held = heldAnswer(keys === 500 ? statusAnswer(500) : keysAnswer(keys))
    server.answer(held.answer)
    const before = server.fetches
    const all = flood(app, hundred(signedBy(NEW)), 100)
    await server.fetched(before + 1)
    held.release()
    return { counts: await all, fetches: server.fetches - before }
  }

  it('100 requests with an unknown kid cause one, and all get its keys', async () => {
    const { server, app } = await warmApp([OLD.jwk()])
    expect(await burst(app, server, [NEW.jwk()])).toEqual({ counts: { 200: 100 }, fetches: 1 })
  })

  it('100 requests with an unknown kid cause one, and all share its failure', async () => {
    const { server, app } = await warmApp([OLD.jwk()])
    expect(await burst(app, server, 500)).toEqual({ counts: { 401: 100 }, fetches: 1 })
  })

  it('100 requests long after the refresh interval need none: the cached keys serve', async () => {
    const { server, app } = await warmApp([OLD.jwk()])
    app.clock.advance(2 * 3_600_000)
    const token = mint({
      alg: 'RS256',
      key: OLD.privateKey,
      header: { kid: 'old' },
      claims: { exp: undefined },
    })
    expect(await flood(app, hundred(token), 100)).toEqual({ 200: 100 })
    expect(server.fetches).toBe(1)
  })

  it('100 requests during the boot pre-fetch wait for it and cause no other', async () => {
    const server = await startJwksServer()
    closeAfterTest(server.stop)
    const held = heldAnswer(keysAnswer([NEW.jwk()]))
    server.answer(held.answer)
    const app = await guardedApp({ JWT_ALGORITHM: 'RS256', JWT_JWKS_URL: server.url })
    await server.fetched(1)
    const all = flood(app, hundred(signedBy(NEW)), 100)
    held.release()
    expect(await all).toEqual({ 200: 100 })
    expect(server.fetches).toBe(1)
  })
})

describe('the boot pre-fetch', () => {
  it('does not start the 5 s wait: an unknown kid right after it is fetched for', async () => {
    const { server, app } = await warmApp([OLD.jwk()])
    server.answer([NEW.jwk()])
    expect(await verdict(app, signedBy(NEW))).toBe(200)
    expect(server.fetches).toBe(2)
  })

  it('is not fatal when it fails: the first token pays the fetch', async () => {
    const server = await startJwksServer([])
    closeAfterTest(server.stop)
    server.answer(statusAnswer(503))
    const app = await guardedApp({ JWT_ALGORITHM: 'RS256', JWT_JWKS_URL: server.url })
    await server.fetched(1)
    expect((await app.ask('/health')).status).toBe(200)
    server.answer([OLD.jwk()])
    expect(await verdict(app, signedBy(OLD))).toBe(200)
  })
})

describe('a failed refresh', () => {
  it('keeps the old keys, on demand and in the background, and the next one heals it', async () => {
    const { server, app } = await warmApp([OLD.jwk()], { JWT_JWKS_REFRESH_INTERVAL: '1' })
    server.answer(statusAnswer(500))
    await server.fetched(3)
    expect(await verdict(app, signedBy(OLD))).toBe(200)
    server.answer([NEW.jwk()])
    const seen = server.fetches
    await server.fetched(seen + 2)
    expect(await verdict(app, signedBy(NEW))).toBe(200)
    expect(await verdict(app, signedBy(OLD))).toEqual(UNKNOWN)
  })
})

describe('a background refresh', () => {
  it('runs every JWT_JWKS_REFRESH_INTERVAL, without any request', async () => {
    const { server } = await warmApp([OLD.jwk()], { JWT_JWKS_REFRESH_INTERVAL: '1' })
    await server.fetched(3)
    expect(server.fetches).toBeGreaterThanOrEqual(3)
  })

  it('joins a fetch that runs: there is one at a time', async () => {
    const env = { JWT_JWKS_REFRESH_INTERVAL: '1', JWT_JWKS_TIMEOUT_MS: '60000' }
    const { server, app } = await warmApp([OLD.jwk()], env)
    const held = heldAnswer(keysAnswer([NEW.jwk()]))
    server.answer(held.answer)
    const waiting = verdict(app, signedBy(NEW))
    await server.fetched(server.fetches + 1)
    const seen = server.fetches
    // A second gate with the same interval tells that the time of two refreshes has passed.
    const { server: other } = await warmApp([OLD.jwk()], env)
    await other.fetched(other.fetches + 3)
    expect(server.fetches).toBe(seen)
    held.release()
    expect(await waiting).toBe(200)
  })

  it('does not use up the on-demand fetch of the next 5 s', async () => {
    const { server, app } = await warmApp([OLD.jwk()], { JWT_JWKS_REFRESH_INTERVAL: '1' })
    await server.fetched(2)
    server.answer([OLD.jwk(), NEW.jwk()])
    expect(await verdict(app, signedBy(NEW))).toBe(200)
  })
})

describe('a request whose key is cached', () => {
  it('never waits for a fetch', async () => {
    const { server, app } = await warmApp([OLD.jwk()], { JWT_JWKS_TIMEOUT_MS: '60000' })
    const held = heldAnswer(keysAnswer([OLD.jwk()]))
    server.answer(held.answer)
    const stranger = verdict(app, naming('nobody'))
    await server.fetched(2)
    for (let i = 0; i < 20; i += 1) {
      const token = mint({
        alg: 'RS256',
        key: OLD.privateKey,
        header: { kid: 'old' },
        claims: { i },
      })
      expect(await verdict(app, token)).toBe(200)
    }
    held.release()
    expect(await stranger).toEqual(UNKNOWN)
  })
})

describe('a key set that changed', () => {
  it('a removed key is refused, also for a token that was verified before', async () => {
    const { server, app } = await warmApp([OLD.jwk(), NEW.jwk()])
    const token = signedBy(NEW)
    expect(await verdict(app, token)).toBe(200)
    server.answer([OLD.jwk()])
    expect(await verdict(app, naming('nobody'))).toEqual(UNKNOWN)
    expect(await verdict(app, token)).toEqual(UNKNOWN)
    expect(await verdict(app, signedBy(OLD))).toBe(200)
  })

  it('a kid that now names another key no longer takes the old signature', async () => {
    const { server, app } = await warmApp([OLD.jwk()])
    const token = signedBy(OLD)
    expect(await verdict(app, token)).toBe(200)
    server.answer([NEW.jwk({ kid: OLD.kid })])
    expect(await verdict(app, naming('nobody'))).toEqual(UNKNOWN)
    expect(await verdict(app, token)).toEqual([401, { error: 'Invalid token signature' }])
    expect(await verdict(app, signedBy(NEW, OLD.kid))).toBe(200)
  })

  it('both keys hold during the overlap, in either order', async () => {
    for (const keys of [
      [OLD.jwk(), NEW.jwk()],
      [NEW.jwk(), OLD.jwk()],
    ]) {
      const { app } = await warmApp(keys)
      expect(await verdict(app, signedBy(NEW))).toBe(200)
    }
  })

  it('a well-formed set without a usable key is obeyed: all keys go', async () => {
    for (const keys of [[], [OLD.jwk({ use: 'enc' })], [{ kty: 'EC', kid: 'old' }]]) {
      const { server, app } = await warmApp([OLD.jwk()])
      server.answer(keys)
      expect(await verdict(app, naming('nobody'))).toEqual(UNKNOWN)
      expect(await verdict(app, signedBy(OLD))).toEqual(UNKNOWN)
    }
  })
})
