import { generateKeyPairSync } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { ConfigError, loadConfig } from '../../src/config/index.ts'
import { ecKey, edKey, type Jwk, rsaKey } from '../support/keys.ts'
import { problemsOf } from './problems.ts'

const load = (env: Record<string, string>) => loadConfig(env).pubsub
const loadKey = (jwk: Jwk) => load({ PUBSUB_JWT_PRIVATE_JWK: JSON.stringify(jwk) }).mintingKey

describe('PUBSUB_JWT_PRIVATE_JWK', () => {
  it.each([
    ['RS256', rsaKey()],
    ['RS384', rsaKey()],
    ['RS512', rsaKey()],
    ['PS256', rsaKey()],
    ['PS384', rsaKey()],
    ['PS512', rsaKey()],
    ['ES256', ecKey()],
    ['ES384', ecKey('ec-384', 'P-384')],
    ['EdDSA', edKey()],
  ])('takes an %s key as JSON and as base64url of the JSON', (alg, key) => {
    const json = JSON.stringify(key.privateJwk({ alg }))
    const encoded = Buffer.from(json).toString('base64url')
    for (const text of [json, ` ${json}\n`, encoded]) {
      expect(load({ PUBSUB_JWT_PRIVATE_JWK: text }).mintingKey).toMatchObject({ kid: key.kid, alg })
    }
  })

  it('is optional', () => {
    expect(load({}).mintingKey).toBeUndefined()
  })

  const strangerHalf = generateKeyPairSync('rsa', { modulusLength: 2048 }).publicKey
  it.each<[string, Jwk]>([
    ['symmetric key', { kty: 'oct', kid: 'a', alg: 'HS256', k: 'c2VjcmV0c2VjcmV0c2VjcmV0' }],
    ['public key', ecKey().jwk({ alg: 'ES256' })],
    ['missing kid', ecKey().privateJwk({ alg: 'ES256', kid: undefined })],
    ['empty kid', ecKey().privateJwk({ alg: 'ES256', kid: '' })],
    ['kid with a dot', ecKey().privateJwk({ alg: 'ES256', kid: 'a.b' })],
    ['kid with a slash', ecKey().privateJwk({ alg: 'ES256', kid: '../a' })],
    ['kid that is a number', ecKey().privateJwk({ alg: 'ES256', kid: 1 })],
    ['missing alg', ecKey().privateJwk()],
    ['alg none', ecKey().privateJwk({ alg: 'none' })],
    ['alg of another kind', ecKey().privateJwk({ alg: 'RS256' })],
    ['alg of another curve', ecKey().privateJwk({ alg: 'ES384' })],
    ['unsupported curve', ecKey('ec-521', 'P-521').privateJwk({ alg: 'ES512' })],
    ['short RSA key', rsaKey('short', 1024).privateJwk({ alg: 'RS256' })],
    ['RSA key without factors', rsaKey().privateJwk({ alg: 'RS256', p: undefined })],
    [
      'halves of two keys',
      rsaKey().privateJwk({ alg: 'RS256', ...strangerHalf.export({ format: 'jwk' }) }),
    ],
    [
      'halves of two EC keys',
      ecKey().privateJwk({ alg: 'ES256', ...ecKey('other').jwk({ kid: 'a' }) }),
    ],
  ])('a %s stops the boot and names the variable, never the value', (_what, jwk) => {
    const text = JSON.stringify(jwk)
    const [problem = '', ...others] = problemsOf({ PUBSUB_JWT_PRIVATE_JWK: text })
    expect(others).toEqual([])
    expect(problem).toMatch(/^PUBSUB_JWT_PRIVATE_JWK: /)
    for (const member of ['d', 'p', 'k']) {
      if (typeof jwk[member] === 'string') expect(problem).not.toContain(jwk[member])
    }
    expect(() => loadKey(jwk)).toThrow(ConfigError)
  })

  it.each(['{', 'not a key', '!!!', '[]', 'null', '"text"', '{}'])('refuses %j', (text) => {
    expect(problemsOf({ PUBSUB_JWT_PRIVATE_JWK: text })[0]).toMatch(/^PUBSUB_JWT_PRIVATE_JWK: /)
  })

  it('never prints its material', () => {
    const key = loadKey(edKey().privateJwk({ alg: 'EdDSA' }))
    expect(JSON.stringify(key)).not.toContain(String(edKey().privateJwk()['d']))
  })
})

describe('PUBSUB_TOKEN_TTL_SEC', () => {
  it.each([
    ['3600', 3600],
    ['60', 60],
    ['86400', 86_400],
    ['', 3600],
  ])('%j is %d seconds', (text, seconds) => {
    expect(load({ PUBSUB_TOKEN_TTL_SEC: text }).tokenTtlS).toBe(seconds)
  })

  it.each(['59', '86401', '1h', '0', '-1', '1e3', '3600.5', ' 3600', '+3600', 'Infinity', '0x10'])(
    '%j stops the boot and names the variable',
    (text) => {
      expect(problemsOf({ PUBSUB_TOKEN_TTL_SEC: text })[0]).toMatch(/^PUBSUB_TOKEN_TTL_SEC: /)
    },
  )
})

describe('PUBSUB_HUB', () => {
  it.each([
    ['true', true],
    ['1', true],
    ['FALSE', false],
    ['', false],
  ])('%j is %j', (text, on) => {
    expect(load({ PUBSUB_HUB: text }).hub).toBe(on)
  })

  it('any other word stops the boot', () => {
    expect(problemsOf({ PUBSUB_HUB: 'yes' })[0]).toMatch(/^PUBSUB_HUB: /)
  })
})

describe('the other PUBSUB_ variables', () => {
  it('several faults are named together, and no secret is repeated', () => {
    const problems = problemsOf({
      PUBSUB_JWT_PRIVATE_JWK: 'hidden-value',
      PUBSUB_TOKEN_TTL_SEC: '1',
      PUBSUB_SESSION_JWKS_URL: 'ftp://keys',
    })
    expect(problems.map((line) => line.split(':')[0])).toEqual([
      'PUBSUB_JWT_PRIVATE_JWK',
      'PUBSUB_TOKEN_TTL_SEC',
      'PUBSUB_SESSION_JWKS_URL',
    ])
    expect(problems.join('\n')).not.toContain('hidden-value')
  })

  it('a misspelt name is warned about with the nearest known one', () => {
    const { warnings } = loadConfig({ PUBSUB_TOKEN_TTL_SECS: '60' })
    expect(warnings).toEqual([
      'PUBSUB_TOKEN_TTL_SECS is not a known variable; did you mean PUBSUB_TOKEN_TTL_SEC?',
    ])
  })

  it.each(['PUBSUB_SERVICE_ROLE_KEY', 'PUBSUB_SESSION_JWT_SECRET'])(
    'a short or padded %s is warned about, and not repeated',
    (name) => {
      const long = 'fixture-of-at-least-thirty-two-bytes'
      expect(loadConfig({ [name]: long }).warnings).toEqual([])
      expect(loadConfig({ [name]: `${long} ` }).warnings).toEqual([
        `${name} begins or ends with white space, which is part of the key`,
      ])
      expect(loadConfig({ [name]: 'fixture' }).warnings).toEqual([
        `${name} has 7 bytes, it should have 32 or more random ones`,
      ])
    },
  )
})
