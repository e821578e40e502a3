import { describe, expect, it } from 'vitest'
import { closeAfterTest, guardedApp } from '../support/guarded-app.ts'
import { startJwksServer } from '../support/jwks-server.ts'
import {
  certificatePem,
  ecKey,
  edKey,
  HS_SECRET,
  PEM_SPELLINGS,
  pkcs1Pem,
  rsaKey,
} from '../support/keys.ts'
import { mint } from '../support/tokens.ts'

const BAD_RSA = { error: 'invalid RSA public key PEM' }
const BAD_ED = { error: 'invalid Ed public key PEM' }
const NO_SECRET = { error: 'HS secret not configured' }

/** What a token of `alg` gets on a read-write route under this environment. */
async function outcome(env: Record<string, string>, token: string) {
  const app = await guardedApp({ JWT_ALGORITHM: 'auto', JWT_SECRET: '', ...env })
  const { status, body } = await app.ask('/api/v1/pop', { token })
  return status === 200 ? 200 : [status, body]
}

describe('JWT_SECRET, the key of HS tokens', () => {
  it.each(['HS256', 'HS384', 'HS512'])(
    'an empty secret is a 500 for %s, not a 401',
    async (alg) => {
      const env = { JWT_PUBLIC_KEY: rsaKey().publicPem }
      expect(await outcome(env, mint({ alg }))).toEqual([500, NO_SECRET])
    },
  )

  it('is the UTF-8 bytes of the text, with nothing trimmed or decoded', async () => {
    const secrets = ['sécret-ü-€-🐝', ' edge blanks ', 'c2VjcmV0', 'line end\n', '\\n', 'deadbeef']
    for (const secret of secrets) {
      const token = mint({ key: Buffer.from(secret, 'utf8') })
      expect(await outcome({ JWT_SECRET: secret }, token)).toBe(200)
    }
  })

  it('a trailing newline belongs to the secret: a token signed without it is invalid', async () => {
    const env = { JWT_SECRET: `${HS_SECRET}\n` }
    expect(await outcome(env, mint())).toEqual([401, { error: 'Invalid token signature' }])
  })

  it.each([1, 6, 31, 32, 64, 65, 200])('a secret of %i bytes works', async (length) => {
    const secret = 'k'.repeat(length)
    expect(await outcome({ JWT_SECRET: secret }, mint({ key: secret }))).toBe(200)
  })

  it('the secret never verifies an RS token, nor the PEM text an HS token', async () => {
    const pem = rsaKey().publicPem
    const commented = PEM_SPELLINGS.commentInFront(pem)
    for (const text of [pem, pem.trim(), commented, pkcs1Pem(rsaKey())]) {
      const forged = mint({ key: text, claims: { role: 'admin' } })
      expect(await outcome({ JWT_PUBLIC_KEY: text }, forged)).toEqual([500, NO_SECRET])
      expect(await outcome({ JWT_PUBLIC_KEY: text, JWT_ALGORITHM: 'RS256' }, forged)).toEqual([
        401,
        { error: 'Unsupported token algorithm' },
      ])
    }
  })
})

describe('JWT_PUBLIC_KEY, the key of RS and EdDSA tokens', () => {
  it.each(['RS256', 'RS384', 'RS512'])('an RSA PEM verifies %s', async (alg) => {
    const env = { JWT_PUBLIC_KEY: rsaKey().publicPem }
    expect(await outcome(env, mint({ alg }))).toBe(200)
    const stranger = mint({ alg, key: rsaKey('stranger').privateKey })
    expect(await outcome(env, stranger)).toEqual([401, { error: 'Invalid token signature' }])
  })

  it('an Ed25519 PEM verifies EdDSA', async () => {
    const env = { JWT_PUBLIC_KEY: edKey().publicPem }
    expect(await outcome(env, mint({ alg: 'EdDSA' }))).toBe(200)
    const stranger = mint({ alg: 'EdDSA', key: edKey('stranger').privateKey })
    expect(await outcome(env, stranger)).toEqual([401, { error: 'Invalid token signature' }])
  })

  it('takes SPKI, PKCS#1 and an X.509 certificate', async () => {
    for (const pem of [rsaKey().publicPem, pkcs1Pem(rsaKey()), certificatePem(rsaKey())]) {
      expect(await outcome({ JWT_PUBLIC_KEY: pem }, mint({ alg: 'RS256' }))).toBe(200)
    }
    const pem = certificatePem(edKey())
    expect(await outcome({ JWT_PUBLIC_KEY: pem }, mint({ alg: 'EdDSA' }))).toBe(200)
  })

  it.each(['plain', 'escapedLineFeeds', 'carriageReturns', 'edgeBlanks'] as const)(
    'a PEM spelled with %s is read',
    async (spelling) => {
      const respell = PEM_SPELLINGS[spelling]
      for (const [key, alg] of [
        [rsaKey(), 'RS256'],
        [edKey(), 'EdDSA'],
      ] as const) {
        expect(await outcome({ JWT_PUBLIC_KEY: respell(key.publicPem) }, mint({ alg }))).toBe(200)
      }
    },
  )

  it.each([
    ['garbage', 'garbage'],
    ['an empty PEM', '-----BEGIN PUBLIC KEY-----\n-----END PUBLIC KEY-----\n'],
    ['a PEM of noise', '-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----\n'],
    ['the base64 of a PEM', PEM_SPELLINGS.base64(rsaKey().publicPem)],
    ['an EC key', ecKey().publicPem],
    ['a private RSA key', rsaKey().privatePem],
    ['a private Ed25519 key', edKey().privatePem],
    ['a JWK', JSON.stringify(rsaKey().jwk())],
    ['a URL', 'https://127.0.0.1/key.pem'],
  ])('%s starts and is a 500 per request, with the text of the algorithm', async (_what, pem) => {
    const env = { JWT_PUBLIC_KEY: pem }
    expect(await outcome(env, mint({ alg: 'RS256' }))).toEqual([500, BAD_RSA])
    expect(await outcome(env, mint({ alg: 'EdDSA' }))).toEqual([500, BAD_ED])
  })

  it('a key of the other kind is the 500 text of the kind that the token wants', async () => {
    const rsa = { JWT_PUBLIC_KEY: rsaKey().publicPem }
    const ed = { JWT_PUBLIC_KEY: edKey().publicPem }
    expect(await outcome(rsa, mint({ alg: 'EdDSA' }))).toEqual([500, BAD_ED])
    expect(await outcome(ed, mint({ alg: 'RS256' }))).toEqual([500, BAD_RSA])
  })

  it('an RSA key under 2048 bits is the 500 text of the seed', async () => {
    const small = rsaKey('small', 1024)
    const token = mint({ alg: 'RS256', key: small.privateKey })
    expect(await outcome({ JWT_PUBLIC_KEY: small.publicPem }, token)).toEqual([500, BAD_RSA])
  })

  it('a kid in the token plays no part with a static PEM', async () => {
    const env = { JWT_PUBLIC_KEY: rsaKey().publicPem }
    for (const kid of ['other', '', undefined, 7, null]) {
      expect(await outcome(env, mint({ alg: 'RS256', header: { kid } }))).not.toEqual([
        401,
        { error: 'Unknown key ID' },
      ])
    }
    expect(await outcome(env, mint({ alg: 'RS256', header: { kid: 'other' } }))).toBe(200)
  })
})

describe('PEM and key set together', () => {
  async function both(pem: string) {
    const server = await startJwksServer([rsaKey('in-set').jwk(), edKey('in-set').jwk()])
    closeAfterTest(server.stop)
    return { server, env: { JWT_PUBLIC_KEY: pem, JWT_JWKS_URL: server.url } }
  }
  const ofSet = mint({ alg: 'RS256', key: rsaKey('in-set').privateKey, header: { kid: 'in-set' } })

  it('a static PEM always wins over JWKS', async () => {
    const { env } = await both(rsaKey().publicPem)
    expect(await outcome(env, mint({ alg: 'RS256', header: { kid: 'in-set' } }))).toBe(200)
    expect(await outcome(env, ofSet)).toEqual([401, { error: 'Invalid token signature' }])
  })

  it('there is no fallback from a bad PEM to the JWKS endpoint', async () => {
    const { env } = await both('garbage')
    expect(await outcome(env, ofSet)).toEqual([500, BAD_RSA])
  })

  it('there is no fallback from an RSA PEM to an Ed25519 key of the set', async () => {
    const { env } = await both(rsaKey().publicPem)
    const token = mint({
      alg: 'EdDSA',
      key: edKey('in-set').privateKey,
      header: { kid: 'in-set' },
    })
    expect(await outcome(env, token)).toEqual([500, BAD_ED])
  })

  it('with an empty PEM the key set is consulted by kid', async () => {
    const { env } = await both('')
    expect(await outcome(env, ofSet)).toBe(200)
  })
})

describe('key material that is missing for one family', () => {
  it.each(['RS256', 'RS384', 'RS512', 'EdDSA'])(
    'auto with only a secret answers %s with 401 Unknown key ID',
    async (alg) => {
      expect(await outcome({ JWT_SECRET: HS_SECRET }, mint({ alg }))).toEqual([
        401,
        { error: 'Unknown key ID' },
      ])
    },
  )

  it('HS256 with only a PEM or only a key set starts and is a 500 per HS token', async () => {
    for (const env of [
      { JWT_PUBLIC_KEY: rsaKey().publicPem },
      { JWT_JWKS_URL: 'http://127.0.0.1:9/' },
    ]) {
      const answer = await outcome({ ...env, JWT_ALGORITHM: 'HS256' }, mint())
      expect(answer).toEqual([500, NO_SECRET])
    }
  })
})
