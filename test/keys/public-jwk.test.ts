import { load, loadPublic } from '@moq/token'
import { describe, expect, it } from 'vitest'
import { parsePrivateJwk } from '../../src/config/index.ts'
import {
  PublicJwkError,
  parsePublicJwk,
  publicHalf,
  verificationKeyOf,
} from '../../src/keys/public-jwk.ts'
import { ecKey, edKey, type Jwk, type KeyFixture, rsaKey } from '../support/keys.ts'

const KINDS: readonly (readonly [string, KeyFixture, readonly string[]])[] = [
  ['RS256', rsaKey(), ['e', 'n']],
  ['PS512', rsaKey(), ['e', 'n']],
  ['ES256', ecKey(), ['crv', 'x', 'y']],
  ['ES384', ecKey('ec-384', 'P-384'), ['crv', 'x', 'y']],
  ['EdDSA', edKey(), ['crv', 'x']],
]

function faultOf(jwk: unknown): string {
  try {
    parsePublicJwk(jwk)
    return 'accepted'
  } catch (error) {
    return error instanceof PublicJwkError ? error.code : String(error)
  }
}

describe('served public JWK', () => {
  it.each(KINDS)('an %s key keeps the members of the allow-list and no other', (alg, key, own) => {
    const jwk = parsePublicJwk(key.jwk({ alg, x5c: ['x'], ext: true, key_ops: ['verify'] }))
    expect(Object.keys(jwk).sort()).toEqual(['alg', ...own, 'key_ops', 'kid', 'kty', 'use'].sort())
    expect(jwk).toMatchObject({ alg, kid: key.kid, use: 'sig', key_ops: ['verify'] })
    expect(verificationKeyOf(jwk).key.equals(key.publicKey)).toBe(true)
  })

  it.each(KINDS)('the public half of an %s key is read by @moq/token', (alg, key) => {
    const text = JSON.stringify(key.privateJwk({ alg, key_ops: ['sign', 'verify'] }))
    const mintingKey = parsePrivateJwk(text)
    expect(mintingKey).toBeDefined()
    const half = publicHalf(mintingKey!)
    expect(loadPublic(JSON.stringify(half))).toMatchObject({ kid: key.kid, alg })
    expect(half).toEqual(parsePublicJwk(key.jwk({ alg })))
    expect(load(text)).toMatchObject({ alg })
    expect(JSON.stringify(half)).not.toContain(String(key.privateJwk()['d']))
  })

  it.each<[string, unknown]>([
    ['not_a_jwk', null],
    ['not_a_jwk', 'text'],
    ['not_a_jwk', []],
    ['not_a_jwk', {}],
    ['not_a_jwk', ecKey().jwk({ alg: 'ES256', kid: undefined })],
    ['not_a_jwk', ecKey().jwk({ alg: 'ES256', kid: '' })],
    ['not_a_jwk', ecKey().jwk({ alg: 'ES256', kid: 'a/b' })],
    ['not_a_jwk', ecKey().jwk({ alg: 'ES256', kid: 'a.jwk' })],
    ['not_a_jwk', ecKey().jwk({ alg: 'ES256', kid: 'a\n' })],
    ['not_a_jwk', ecKey().jwk({ alg: 'ES256', kid: 7 })],
    ['not_a_jwk', ecKey().jwk({ alg: undefined })],
    ['private_members', ecKey().privateJwk({ alg: 'ES256' })],
    ['private_members', rsaKey().privateJwk({ alg: 'RS256' })],
    ['private_members', rsaKey().jwk({ alg: 'RS256', p: 'x' })],
    ['private_members', rsaKey().jwk({ alg: 'RS256', d: null })],
    ['private_members', { kty: 'oct', kid: 'a', alg: 'HS256', k: 'c2VjcmV0' }],
    ['unsupported_kind', { kty: 'oct', kid: 'a', alg: 'HS256' }],
    ['unsupported_kind', { kty: '__proto__', kid: 'a', alg: 'RS256' }],
    ['unsupported_kind', ecKey().jwk({ alg: 'RS256' })],
    ['unsupported_kind', ecKey().jwk({ alg: 'ES384' })],
    ['unsupported_kind', ecKey('ec-521', 'P-521').jwk({ alg: 'ES512' })],
    ['unsupported_kind', rsaKey().jwk({ alg: 'none' })],
    ['not_for_signatures', rsaKey().jwk({ alg: 'RS256', use: 'enc' })],
    ['not_for_signatures', rsaKey().jwk({ alg: 'RS256', key_ops: ['encrypt'] })],
    ['not_for_signatures', rsaKey().jwk({ alg: 'RS256', key_ops: 'verify' })],
    ['broken_key', ecKey().jwk({ alg: 'ES256', x: 'AAAA' })],
    ['broken_key', ecKey().jwk({ alg: 'ES256', y: undefined })],
    ['broken_key', rsaKey().jwk({ alg: 'RS256', n: 5 })],
    ['broken_key', rsaKey('short', 1024).jwk({ alg: 'RS256' })],
    ['broken_key', edKey().jwk({ alg: 'EdDSA', x: '' })],
  ] as [string, Jwk][])('%s: %j', (fault, jwk) => {
    expect(faultOf(jwk)).toBe(fault)
  })
})
