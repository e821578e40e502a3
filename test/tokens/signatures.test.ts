import { describe, expect, it } from 'vitest'
import {
  KeyError,
  pemSource,
  readJwkSet,
  readPrivatePem,
  readSecret,
  type SigningKey,
  secretSource,
  type VerificationKey,
} from '../../src/keys/index.ts'
import {
  ALGORITHMS,
  type Algorithm,
  allowedAlgorithm,
  decodeToken,
  keyRequest,
  mintToken,
  TokenError,
  verifySignature,
} from '../../src/tokens/index.ts'
import { ecKey, edKey, HS_SECRET, type KeyFixture, rsaKey } from '../support/keys.ts'
import { compactToken, mint, withBrokenSignature } from '../support/tokens.ts'

const FIXTURES: ReadonlyMap<string, KeyFixture> = new Map([
  ['rsa', rsaKey()],
  ['ed25519', edKey()],
  ['ec-p256', ecKey()],
  ['ec-p384', ecKey('p384', 'P-384')],
  ['ec-p521', ecKey('p521', 'P-521')],
])
const OTHERS: ReadonlyMap<string, KeyFixture> = new Map([
  ['rsa', rsaKey('other')],
  ['ed25519', edKey('other')],
  ['ec-p256', ecKey('other')],
  ['ec-p384', ecKey('other384', 'P-384')],
  ['ec-p521', ecKey('other521', 'P-521')],
])

async function keysFor(
  algorithm: Algorithm,
  fixtures = FIXTURES,
): Promise<readonly VerificationKey[]> {
  const fixture = fixtures.get(algorithm.kind)
  const secret = fixtures === FIXTURES ? HS_SECRET : `${HS_SECRET}!`
  const source = fixture ? pemSource(fixture.publicPem, 'X') : secretSource(secret, 'X')
  return await source.candidates({ kind: algorithm.kind, jwkAlgs: algorithm.jwkAlgs })
}

function signingKey({ kind }: Algorithm): SigningKey {
  const fixture = FIXTURES.get(kind)
  return fixture ? readPrivatePem(fixture.privatePem) : readSecret(HS_SECRET)
}

async function codeOf(verifying: Promise<unknown>): Promise<string> {
  try {
    await verifying
    return 'ok'
  } catch (error) {
    if (error instanceof TokenError) return error.code
    throw error
  }
}

describe.each([...ALGORITHMS.values()])('$name', (algorithm) => {
  const { name, kind } = algorithm
  const key = FIXTURES.get(kind)?.privateKey ?? HS_SECRET

  it('verifies what another program signed, and refuses a changed signature', async () => {
    const keys = await keysFor(algorithm)
    const token = mint({ alg: name, key })
    expect(await codeOf(verifySignature(decodeToken(token), algorithm, keys))).toBe('ok')
    const broken = decodeToken(withBrokenSignature(token))
    expect(await codeOf(verifySignature(broken, algorithm, keys))).toBe('signature_invalid')
  })

  it('refuses a changed payload, an empty signature and one that is too long', async () => {
    const keys = await keysFor(algorithm)
    const [header, payload, signature] = mint({ alg: name, key }).split('.')
    const other = mint({ alg: name, key, claims: { role: 'admin' } }).split('.')[1]
    for (const token of [
      `${header}.${other}.${signature}`,
      `${header}.${payload}.`,
      `${header}.${payload}.AAAA${signature}`,
      `${header}.${payload}.AAAA`,
    ]) {
      const verifying = verifySignature(decodeToken(token), algorithm, keys)
      expect(await codeOf(verifying)).toBe('signature_invalid')
    }
  })

  it('refuses another key, and tries each of several', async () => {
    const right = await keysFor(algorithm)
    const wrong = await keysFor(algorithm, OTHERS)
    const token = decodeToken(mint({ alg: name, key }))
    expect(await codeOf(verifySignature(token, algorithm, wrong))).toBe('signature_invalid')
    expect(await verifySignature(token, algorithm, [...wrong, ...right])).toBe(right[0])
    expect(await codeOf(verifySignature(token, algorithm, []))).toBe('key_unknown')
  })

  it('mints what it verifies, with the header that was asked for', async () => {
    const claims = { sub: 'a', exp: 5.5 }
    const options = { alg: name, key: signingKey(algorithm), claims, kid: 'k', typ: 'at+jwt' }
    const token = decodeToken(await mintToken(options))
    expect(token.header).toEqual({ alg: name, kid: 'k', typ: 'at+jwt' })
    expect(token.payload).toEqual(claims)
    const keys = await keysFor(algorithm)
    expect(await codeOf(verifySignature(token, algorithm, keys))).toBe('ok')
  })

  it('mints with no key of another kind', async () => {
    const misfit = kind === 'rsa' ? readSecret('x') : readPrivatePem(rsaKey().privatePem)
    await expect(mintToken({ alg: name, key: misfit, claims: {} })).rejects.toThrow(KeyError)
  })
})

describe('the algorithm', () => {
  const rs256 = new Map([...ALGORITHMS].filter(([name]) => name === 'RS256'))

  it.each(['none', 'None', 'HS256', 'rs256', 'RS256 ', '__proto__', ''])(
    '%j is not allowed where only RS256 is',
    (alg) => {
      const token = decodeToken(
        compactToken({ header: { alg }, payload: {}, alg: 'none', key: '' }),
      )
      expect(() => allowedAlgorithm(token, rs256)).toThrow(TokenError)
    },
  )

  it('picks the kind of key, so that a public key is never an HMAC secret', () => {
    const token = decodeToken(mint({ alg: 'HS256', key: rsaKey().publicPem }))
    const row = allowedAlgorithm(token, ALGORITHMS)
    expect(keyRequest(token, row).kind).toBe('secret')
    expect(secretSource(HS_SECRET, 'X').candidates(keyRequest(token, row))).toHaveLength(1)
  })

  it('ES256 in DER form is no signature', async () => {
    const parts = { header: { alg: 'ES256' }, payload: {}, key: ecKey().privateKey }
    const der = decodeToken(compactToken({ ...parts, alg: 'ES256-DER' }))
    const row = allowedAlgorithm(der, ALGORITHMS)
    const { keys } = readJwkSet([ecKey().jwk()], ['ec-p256'])
    expect(await codeOf(verifySignature(der, row, keys))).toBe('signature_invalid')
    const minted = await mintToken({
      alg: 'ES256',
      key: readPrivatePem(ecKey().privatePem),
      claims: {},
    })
    expect(Buffer.from(minted.split('.')[2] ?? '', 'base64url')).toHaveLength(64)
  })
})
