import { describe, expect, it } from 'vitest'
import { closeAfterTest, guardedApp } from '../support/guarded-app.ts'
import { keysAnswer, startJwksServer } from '../support/jwks-server.ts'
import { ecKey, edKey, type Jwk, type KeyFixture, rsaKey } from '../support/keys.ts'
import { mint } from '../support/tokens.ts'

const A = rsaKey('a')
const B = rsaKey('b')
const ED = edKey('ed')
const UNKNOWN = [401, 'Unknown key ID']
const BAD_SIGNATURE = [401, 'Invalid token signature']
const UNNAMED: Jwk = { kid: undefined }

function signedBy(key: KeyFixture, header: Jwk = {}, alg?: string) {
  const family = key.publicKey.asymmetricKeyType === 'rsa' ? 'RS256' : 'EdDSA'
  return mint({ alg: alg ?? family, key: key.privateKey, header: { kid: key.kid, ...header } })
}

async function gateOn(keys: readonly unknown[]) {
  const server = await startJwksServer()
  closeAfterTest(server.stop)
  // The set may hold entries that are no JWK at all.
  server.answer(keysAnswer(keys as readonly Jwk[]))
  const app = await guardedApp({ JWT_ALGORITHM: 'auto', JWT_SECRET: '', JWT_JWKS_URL: server.url })
  const verdict = async (token: string) => {
    const { status, body } = await app.ask('/x', { token })
    return status === 200 ? 200 : [status, (body as { error: string }).error]
  }
  return { server, verdict }
}

describe('a token that names its key', () => {
  it('gets that key and no other', async () => {
    const { verdict } = await gateOn([A.jwk(), B.jwk(), ED.jwk()])
    for (const key of [A, B, ED]) expect(await verdict(signedBy(key))).toBe(200)
    expect(await verdict(signedBy(A, { kid: 'b' }))).toEqual(BAD_SIGNATURE)
    expect(await verdict(signedBy(B, { kid: 'a' }))).toEqual(BAD_SIGNATURE)
  })

  it('by a kid that differs in case or blanks is 401 Unknown key ID', async () => {
    const { verdict } = await gateOn([A.jwk()])
    for (const kid of ['A', 'a ', ' a', 'á', 'aa']) {
      expect(await verdict(signedBy(A, { kid }))).toEqual(UNKNOWN)
    }
  })

  it.each([
    '__proto__',
    'constructor',
    'toString',
    'k'.repeat(10_000),
    '../../etc',
    '\u0000',
    '🐝',
  ])('by an odd kid (%#) is 401 Unknown key ID', async (kid) => {
    const { verdict } = await gateOn([A.jwk()])
    expect(await verdict(signedBy(A, { kid }))).toEqual(UNKNOWN)
  })

  it.each([[7], [true], [{}], [['a']], [{ toString: 'a' }]])(
    'by the kid %j, which is no text, is a 401',
    async (kid) => {
      const { verdict } = await gateOn([A.jwk()])
      expect((await verdict(signedBy(A, { kid }))) === 200).toBe(false)
      expect(await verdict(signedBy(A, { kid }))).toContain(401)
    },
  )

  it('whose kid names a key of the other type is a 401', async () => {
    const { verdict } = await gateOn([A.jwk(), ED.jwk()])
    expect(await verdict(signedBy(A, { kid: 'ed' }))).toContain(401)
    expect(await verdict(signedBy(ED, { kid: 'a' }))).toContain(401)
  })
})

describe('a token without kid', () => {
  it.each([undefined, ''])('(%j) takes the only key of a set', async (kid) => {
    expect(await (await gateOn([A.jwk()])).verdict(signedBy(A, { kid }))).toBe(200)
    expect(await (await gateOn([ED.jwk()])).verdict(signedBy(ED, { kid }))).toBe(200)
  })

  it('takes the first key, in document order, whose type fits its alg', async () => {
    for (const keys of [
      [A.jwk(), ED.jwk(), B.jwk()],
      [ED.jwk(), A.jwk(), B.jwk()],
    ]) {
      const { verdict } = await gateOn(keys)
      expect(await verdict(signedBy(A, UNNAMED))).toBe(200)
      expect(await verdict(signedBy(ED, UNNAMED))).toBe(200)
      expect(await verdict(signedBy(B, UNNAMED))).toEqual(BAD_SIGNATURE)
    }
  })

  it('is 401 Unknown key ID where no key fits', async () => {
    expect(await (await gateOn([ED.jwk()])).verdict(signedBy(A, UNNAMED))).toEqual(UNKNOWN)
    expect(await (await gateOn([A.jwk()])).verdict(signedBy(ED, UNNAMED))).toEqual(UNKNOWN)
    expect(await (await gateOn([])).verdict(signedBy(ED, UNNAMED))).toEqual(UNKNOWN)
  })
})

describe('a set with unnamed keys', () => {
  it('a token whose kid names no key takes the first fitting unnamed one, without a fetch', async () => {
    const { server, verdict } = await gateOn([
      ED.jwk(),
      A.jwk(),
      B.jwk(UNNAMED),
      edKey('ed-2').jwk(UNNAMED),
      rsaKey('c').jwk(UNNAMED),
    ])
    expect(await verdict(signedBy(B, { kid: 'zz' }))).toBe(200)
    expect(await verdict(signedBy(edKey('ed-2'), { kid: 'zz' }))).toBe(200)
    expect(await verdict(signedBy(A, { kid: 'zz' }))).toEqual(BAD_SIGNATURE)
    expect(await verdict(signedBy(rsaKey('c'), { kid: 'zz' }))).toEqual(BAD_SIGNATURE)
    expect(server.fetches).toBe(1)
  })

  it('a token whose kid names a key takes that one', async () => {
    const { verdict } = await gateOn([B.jwk(UNNAMED), A.jwk()])
    expect(await verdict(signedBy(A))).toBe(200)
    expect(await verdict(signedBy(B, { kid: 'a' }))).toEqual(BAD_SIGNATURE)
  })

  it('a token whose kid names no key, with no unnamed key that fits, triggers the refresh', async () => {
    const { server, verdict } = await gateOn([A.jwk(), ED.jwk(UNNAMED)])
    expect(await verdict(signedBy(ED, { kid: 'zz' }))).toBe(200)
    expect(await verdict(signedBy(A, { kid: 'zz' }))).toEqual(UNKNOWN)
    expect(server.fetches).toBe(2)
  })

  it('a token without kid takes the first fitting key, named or not', async () => {
    const { verdict } = await gateOn([A.jwk(), B.jwk(UNNAMED)])
    expect(await verdict(signedBy(A, UNNAMED))).toBe(200)
    expect(await verdict(signedBy(B, UNNAMED))).toEqual(BAD_SIGNATURE)
  })
})

describe('the entries of a set', () => {
  it('one kid on an enc and a sig key: the sig key is used, in either order', async () => {
    const enc = B.jwk({ kid: 'a', use: 'enc', alg: 'RSA-OAEP' })
    const encOnly = B.jwk({ kid: 'a', use: 'enc' })
    for (const keys of [
      [enc, A.jwk()],
      [A.jwk(), enc],
      [encOnly, A.jwk()],
      [A.jwk(), encOnly],
    ]) {
      const { verdict } = await gateOn(keys)
      expect(await verdict(signedBy(A))).toBe(200)
      expect(await verdict(signedBy(A, UNNAMED))).toBe(200)
      expect(await verdict(signedBy(B, { kid: 'a' }))).toEqual(BAD_SIGNATURE)
    }
  })

  it('use: enc is never a candidate, even alone', async () => {
    const { verdict } = await gateOn([A.jwk({ use: 'enc' })])
    expect(await verdict(signedBy(A))).toEqual(UNKNOWN)
    expect(await verdict(signedBy(A, UNNAMED))).toEqual(UNKNOWN)
  })

  it('a key without use is a candidate', async () => {
    const { verdict } = await gateOn([A.jwk({ use: undefined })])
    expect(await verdict(signedBy(A))).toBe(200)
  })

  it('an alg that differs from the token is not used', async () => {
    const { verdict } = await gateOn([
      A.jwk({ kid: 'k', alg: 'RS512' }),
      B.jwk({ kid: 'k', alg: 'RS256' }),
    ])
    expect(await verdict(signedBy(A, { kid: 'k' }, 'RS512'))).toBe(200)
    expect(await verdict(signedBy(B, { kid: 'k' }, 'RS256'))).toBe(200)
    expect(await verdict(signedBy(B, UNNAMED, 'RS256'))).toBe(200)
    expect(await verdict(signedBy(A, { kid: 'k' }, 'RS384'))).toContain(401)
    expect(await verdict(signedBy(A, { kid: 'k' }, 'RS256'))).toEqual(BAD_SIGNATURE)
  })

  it('an Ed25519 key spelled alg EdDSA, Ed25519 or not at all verifies an EdDSA token', async () => {
    for (const alg of ['EdDSA', 'Ed25519', undefined]) {
      const { verdict } = await gateOn([ED.jwk({ alg })])
      expect(await verdict(signedBy(ED))).toBe(200)
    }
  })

  it('a token spelled Ed25519 is 401 Unsupported token algorithm with either key', async () => {
    for (const alg of ['EdDSA', 'Ed25519']) {
      const { verdict } = await gateOn([ED.jwk({ alg })])
      expect(await verdict(signedBy(ED, {}, 'Ed25519'))).toEqual([
        401,
        'Unsupported token algorithm',
      ])
    }
  })

  it('an identical key listed twice collapses to one', async () => {
    const { verdict } = await gateOn([A.jwk(), A.jwk(), ED.jwk(), ED.jwk()])
    for (const header of [{}, UNNAMED]) {
      expect(await verdict(signedBy(A, header))).toBe(200)
      expect(await verdict(signedBy(ED, header))).toBe(200)
    }
  })

  it('of two keys with one kid the choice does not depend on luck, and is never a 500', async () => {
    for (const keys of [
      [A.jwk({ kid: 'k' }), B.jwk({ kid: 'k' })],
      [B.jwk({ kid: 'k' }), A.jwk({ kid: 'k' })],
    ]) {
      const outcomes = new Set<string>()
      for (let run = 0; run < 3; run += 1) {
        const { verdict } = await gateOn(keys)
        const ofA = await verdict(signedBy(A, { kid: 'k' }))
        const ofB = await verdict(signedBy(B, { kid: 'k' }))
        expect([ofA, ofB]).toContain(200)
        outcomes.add(JSON.stringify([ofA, ofB]))
      }
      expect(outcomes.size).toBe(1)
    }
  })

  const { n, e } = A.jwk() as { n: string; e: string }
  const { x } = ED.jwk() as { x: string }
  it.each([
    ['null', null],
    ['a number', 5],
    ['text', 'key'],
    ['an array', [A.jwk()]],
    ['an empty object', {}],
    ['an EC key', ecKey('ec').jwk({ kid: 'a' })],
    ['a secret', { kty: 'oct', k: 'c2VjcmV0', kid: 'a' }],
    ['an X25519 key', { kty: 'OKP', crv: 'X25519', x, kid: 'a' }],
    ['an Ed448 key', { kty: 'OKP', crv: 'Ed448', x, kid: 'a' }],
    ['an Ed25519 key of 31 bytes', { kty: 'OKP', crv: 'Ed25519', x: x.slice(0, -2), kid: 'a' }],
    ['an Ed25519 key of 33 bytes', { kty: 'OKP', crv: 'Ed25519', x: `${x}A`, kid: 'a' }],
    ['an Ed25519 key without x', { kty: 'OKP', crv: 'Ed25519', kid: 'a' }],
    ['an RSA key without n', { kty: 'RSA', e, kid: 'a' }],
    ['an RSA key without e', { kty: 'RSA', n, kid: 'a' }],
    ['an RSA key with numbers', { kty: 'RSA', n: 5, e: 65_537, kid: 'a' }],
    ['an RSA key with empty parts', { kty: 'RSA', n: '', e: '', kid: 'a' }],
    ['an RSA key of noise', { kty: 'RSA', n: '***', e: '***', kid: 'a' }],
    ['an RSA key under 2048 bits', rsaKey('small', 1024).jwk({ kid: 'a' })],
    ['a key type in lower case', { kty: 'rsa', n, e, kid: 'a' }],
    ['no key type', { n, e, kid: 'a' }],
  ])('that is %s is skipped, and the good ones beside it work', async (_what, entry) => {
    const { verdict } = await gateOn([entry, A.jwk(), ED.jwk()])
    expect(await verdict(signedBy(A))).toBe(200)
    expect(await verdict(signedBy(ED))).toBe(200)
    expect(await verdict(signedBy(A, UNNAMED))).toBe(200)
    expect(await verdict(signedBy(ED, UNNAMED))).toBe(200)
  })

  it('a small RSA key is no key: its token is 401 Unknown key ID', async () => {
    const small = rsaKey('small', 1024)
    const { verdict } = await gateOn([small.jwk()])
    expect(await verdict(signedBy(small))).toEqual(UNKNOWN)
  })

  it('a secret in the set never verifies an HS token', async () => {
    const { verdict } = await gateOn([{ kty: 'oct', k: 'c2VjcmV0', kid: 'a' }, A.jwk()])
    const token = mint({ key: 'secret', header: { kid: 'a' } })
    expect(await verdict(token)).toEqual([500, 'HS secret not configured'])
  })
})

describe('a token that brings its own key', () => {
  it.each([
    ['jwk', { jwk: B.jwk() }],
    ['jku', { jku: 'http://127.0.0.1:9/keys' }],
    ['x5u', { x5u: 'http://127.0.0.1:9/cert' }],
    ['x5c', { x5c: ['AAAA'] }],
  ])('in %s gets no further than any other', async (_name, header) => {
    const { verdict } = await gateOn([A.jwk()])
    expect(await verdict(signedBy(B, { ...header, kid: 'a' }))).toEqual(BAD_SIGNATURE)
    expect(await verdict(signedBy(B, { ...header, kid: 'b' }))).toEqual(UNKNOWN)
    expect(await verdict(signedBy(A, header))).toBe(200)
  })
})
