import { describe, expect, it } from 'vitest'
import { closeAfterTest, guardedApp } from '../support/guarded-app.ts'
import { startJwksServer } from '../support/jwks-server.ts'
import { ecKey, edKey, HS_SECRET, rsaKey } from '../support/keys.ts'
import { compactToken, mint, segment } from '../support/tokens.ts'

/** Seed, "Algorithms and auto-detection", row by row. */
const ACCEPTED: Readonly<Record<string, readonly string[]>> = {
  auto: ['HS256', 'HS384', 'HS512', 'RS256', 'RS384', 'RS512', 'EdDSA'],
  HS256: ['HS256'],
  HS384: ['HS384'],
  HS512: ['HS512'],
  RS256: ['RS256', 'RS384', 'RS512'],
  RS384: ['RS384'],
  RS512: ['RS512'],
  EdDSA: ['EdDSA'],
}
const TOKEN_ALGS = [...(ACCEPTED['auto'] ?? []), 'none', 'ES256'] as const
const UNSUPPORTED = { error: 'Unsupported token algorithm' }

async function keyServer() {
  const server = await startJwksServer([rsaKey().jwk(), edKey().jwk(), ecKey().jwk()])
  closeAfterTest(server.stop)
  return server
}

describe.each(Object.keys(ACCEPTED))('JWT_ALGORITHM=%s', (setting) => {
  it.each(TOKEN_ALGS)('and a token that declares %s', async (alg) => {
    const server = await keyServer()
    const app = await guardedApp({ JWT_ALGORITHM: setting, JWT_JWKS_URL: server.url })
    const kids = { RS: rsaKey().kid, Ed: edKey().kid, ES: ecKey().kid }
    const kid = kids[alg.slice(0, 2) as keyof typeof kids]
    const answer = await app.ask('/api/v1/pop', { token: mint({ alg, header: { kid } }) })
    if (ACCEPTED[setting]?.includes(alg)) {
      expect(answer.status).toBe(200)
    } else {
      expect([answer.status, answer.body]).toEqual([401, UNSUPPORTED])
      expect(app.reached).toEqual([])
    }
  })
})

describe('the algorithm a token declares', () => {
  it.each(['hs256', 'Hs256', 'HS256 ', ' HS256', 'HS1', 'NONE', 'None', 'nOnE', ''])(
    'is compared exactly: %j is 401 Unsupported token algorithm under auto',
    async (alg) => {
      const app = await guardedApp({ JWT_ALGORITHM: 'auto' })
      const token = mint({ header: { alg } })
      expect(await app.ask('/api/v1/pop', { token })).toMatchObject({
        status: 401,
        body: UNSUPPORTED,
      })
    },
  )

  it.each(['PS256', 'PS384', 'PS512', 'ES384', 'ES512', 'Ed25519', 'RSA-OAEP', 'dir'])(
    '%s is outside every set',
    async (alg) => {
      const app = await guardedApp({ JWT_ALGORITHM: 'auto', JWT_PUBLIC_KEY: rsaKey().publicPem })
      const token = mint({ alg: 'RS256', header: { alg } })
      expect(await app.ask('/api/v1/pop', { token })).toMatchObject({
        status: 401,
        body: UNSUPPORTED,
      })
    },
  )

  it.each(['__proto__', 'constructor', 'toString', 'hasOwnProperty', 'auto'])(
    '%s, a name of the language or of a setting, is no algorithm',
    async (alg) => {
      const app = await guardedApp({ JWT_ALGORITHM: 'auto' })
      const token = mint({ header: { alg } })
      expect(await app.ask('/api/v1/pop', { token })).toMatchObject({
        status: 401,
        body: UNSUPPORTED,
      })
    },
  )

  it.each([
    ['missing', undefined],
    ['null', null],
    ['a number', 256],
    ['an array', ['HS256']],
    ['an object', { alg: 'HS256' }],
    ['a boolean', true],
  ])('being %s is 401 Bad token header', async (_what, alg) => {
    const app = await guardedApp({ JWT_ALGORITHM: 'auto' })
    const token = mint({ header: { alg } })
    expect(await app.ask('/api/v1/pop', { token })).toMatchObject({
      status: 401,
      body: { error: 'Bad token header' },
    })
  })

  it('alg none is refused with any signature: empty, a real HMAC, or the bytes of one', async () => {
    const app = await guardedApp({ JWT_ALGORITHM: 'auto' })
    const header = { alg: 'none' }
    const payload = { role: 'admin' }
    const unsigned = `${segment(header)}.${segment(payload)}.`
    const hmac = compactToken({ header, payload, alg: 'HS256', key: HS_SECRET })
    for (const token of [unsigned, hmac]) {
      expect(await app.ask('/api/v1/pop', { token })).toMatchObject({
        status: 401,
        body: UNSUPPORTED,
      })
    }
  })

  it('an algorithm outside the set is refused before any key lookup happens', async () => {
    const server = await keyServer()
    const app = await guardedApp({ JWT_ALGORITHM: 'RS384', JWT_JWKS_URL: server.url })
    await server.fetched(1)
    const token = mint({ alg: 'RS256', header: { kid: 'never-seen' } })
    expect(await app.ask('/api/v1/pop', { token })).toMatchObject({ body: UNSUPPORTED })
    expect(server.fetches).toBe(1)
  })

  it('a signature under another algorithm of the set than the declared one is invalid', async () => {
    const app = await guardedApp({ JWT_ALGORITHM: 'auto', JWT_PUBLIC_KEY: rsaKey().publicPem })
    const crossed = [
      mint({ alg: 'HS512', header: { alg: 'HS256' } }),
      mint({ alg: 'RS512', header: { alg: 'RS256' } }),
      mint({ alg: 'PS256', header: { alg: 'RS256' } }),
      mint({ alg: 'HS256', header: { alg: 'RS256' } }),
    ]
    for (const token of crossed) {
      const answer = await app.ask('/api/v1/pop', { token })
      expect([answer.status, answer.body]).toEqual([401, { error: 'Invalid token signature' }])
    }
  })

  it('under auto a secret and an RSA key hold at once: a token signed with either passes', async () => {
    const app = await guardedApp({ JWT_ALGORITHM: 'auto', JWT_PUBLIC_KEY: rsaKey().publicPem })
    for (const alg of ['HS256', 'HS384', 'HS512', 'RS256', 'RS384', 'RS512']) {
      expect((await app.ask('/api/v1/pop', { token: mint({ alg }) })).status).toBe(200)
    }
  })
})
