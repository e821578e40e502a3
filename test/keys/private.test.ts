import { describe, expect, it } from 'vitest'
import {
  KeyError,
  pemSource,
  readPrivateJwk,
  readPrivatePem,
  readSecret,
  secretSource,
} from '../../src/keys/index.ts'
import { ecKey, edKey, rsaKey } from '../support/keys.ts'

describe('a signing key', () => {
  it.each([
    ['rsa', rsaKey()],
    ['ed25519', edKey()],
    ['ec-p256', ecKey()],
    ['ec-p521', ecKey('p521', 'P-521')],
  ])('of kind %s is read from PEM and from a JWK', (kind, { privatePem, privateJwk, kid }) => {
    expect(readPrivatePem(privatePem).kind).toBe(kind)
    expect(readPrivatePem(privatePem.replaceAll('\n', '\\n')).kind).toBe(kind)
    const fromJwk = readPrivateJwk(privateJwk({ alg: 'X' }))
    expect(fromJwk).toMatchObject({ kind, kid, alg: 'X' })
  })

  it('is read from PKCS#1, SEC 1, an oct JWK and text', () => {
    const { privateKey } = rsaKey()
    const pkcs1 = privateKey.export({ type: 'pkcs1', format: 'pem' }).toString()
    const sec1 = ecKey().privateKey.export({ type: 'sec1', format: 'pem' }).toString()
    expect(readPrivatePem(pkcs1).kind).toBe('rsa')
    expect(readPrivatePem(sec1).kind).toBe('ec-p256')
    expect(readPrivateJwk({ kty: 'oct', k: 'AAAA' }).key.symmetricKeySize).toBe(3)
    expect(readSecret('ü').key.export().toString('hex')).toBe('c3bc')
  })

  it.each([
    ['a public PEM', () => readPrivatePem(rsaKey().publicPem)],
    ['other text', () => readPrivatePem('secret')],
    ['a weak RSA key', () => readPrivatePem(rsaKey('weak', 1024).privatePem)],
    ['a public JWK', () => readPrivateJwk(rsaKey().jwk())],
    ['an oct JWK without k', () => readPrivateJwk({ kty: 'oct' })],
    ['no JWK', () => readPrivateJwk('x')],
    ['an empty secret', () => readSecret('')],
  ])('is not %s', (_what, read) => {
    expect(read).toThrow(KeyError)
  })
})

describe('a fixed source', () => {
  const rsa = { kind: 'rsa', jwkAlgs: ['RS256'], kid: 'any' } as const
  const hmac = { kind: 'secret', jwkAlgs: ['HS256'] } as const

  it('gives its key whatever the kid', () => {
    expect(pemSource(rsaKey().publicPem, 'X').candidates(rsa)).toHaveLength(1)
    expect(secretSource('s', 'X').candidates(hmac)).toHaveLength(1)
  })

  it('never gives a public key for HMAC, nor a secret for RSA', () => {
    expect(() => pemSource(rsaKey().publicPem, 'X').candidates(hmac)).toThrow(KeyError)
    expect(secretSource(rsaKey().publicPem, 'X').candidates(rsa)).toEqual([])
  })

  it('fails each use with the kind that was wanted, if the key is missing or unusable', () => {
    const errors = [pemSource('junk', 'X'), pemSource(edKey().publicPem, 'X')].map((source) => {
      try {
        return source.candidates(rsa)
      } catch (error) {
        return error
      }
    })
    for (const error of errors) expect(error).toMatchObject({ code: 'key_unusable', kind: 'rsa' })
    expect(() => secretSource('', 'JWT_SECRET').candidates(hmac)).toThrow('JWT_SECRET is empty')
  })
})
