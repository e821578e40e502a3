import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { loadHubConfig } from '../../src/config/index.ts'
import { rsaKey } from '../support/keys.ts'
import { problemsIn } from './problems.ts'

type Env = Readonly<Record<string, string>>

function fileOf(content: unknown): string {
  const file = join(mkdtempSync(join(tmpdir(), 'hub-issuers-')), 'issuers.json')
  writeFileSync(file, typeof content === 'string' ? content : JSON.stringify(content))
  return file
}

function load(content: unknown, env: Env = {}) {
  return loadHubConfig({ MERCURE_ISSUERS_FILE: fileOf(content), ...env })
}

const problemsOf = (content: unknown, env: Env = {}) => problemsIn(() => load(content, env))

const KEY = { jwt_key: 'a-secret-that-no-message-may-hold' }

describe('several issuers (section 17)', () => {
  it('are read from the file, in its order', () => {
    const config = load([
      {
        issuer: 'https://a',
        authorization_server: true,
        publisher: { jwks_uri: 'https://a/jwks' },
      },
      { issuer: 'https://b', subscriber: { jwt_key: rsaKey().publicPem, jwt_alg: 'RS256' } },
      {
        issuer: 'https://c',
        publisher: KEY,
        subscriber: { jwks_uri: 'https://c/jwks', jwks_algs: ['ES256'] },
      },
    ])
    expect(config.issuers).toMatchObject([
      {
        issuer: 'https://a',
        authorizationServer: true,
        publisher: { kind: 'jwks' },
        subscriber: undefined,
      },
      {
        issuer: 'https://b',
        authorizationServer: false,
        publisher: undefined,
        subscriber: { kind: 'pem' },
      },
      {
        issuer: 'https://c',
        publisher: { kind: 'secret', algorithm: 'HS256' },
        subscriber: { algorithms: ['ES256'] },
      },
    ])
  })

  it('stand behind the one of the environment', () => {
    const env = { MERCURE_ISSUER: 'https://env', MERCURE_PUBLISHER_JWT_KEY: 'x' }
    const config = load([{ issuer: 'https://a', publisher: KEY }], env)
    expect(config.issuers.map(({ issuer }) => issuer)).toEqual(['https://env', 'https://a'])
  })

  it('identifiers are kept as written and compared exactly (A44)', () => {
    const config = load([
      { issuer: 'https://a', publisher: KEY },
      { issuer: 'https://a/', publisher: KEY },
    ])
    expect(config.issuers.map(({ issuer }) => issuer)).toEqual(['https://a', 'https://a/'])
  })

  it('under development mode nothing is filled in for several issuers', () => {
    const config = load(
      [
        { issuer: 'https://a', publisher: KEY },
        { issuer: 'https://b', subscriber: KEY },
      ],
      { MERCURE_DEV: 'true' },
    )
    expect(config.issuers).toMatchObject([{ subscriber: undefined }, { publisher: undefined }])
  })
})

describe('issuers: what stops start-up (section 17, checklist 59)', () => {
  it.each<[string, unknown, RegExp]>([
    ['no JSON', '{', /^MERCURE_ISSUERS_FILE: .*cannot be read as JSON/],
    ['no array', {}, /^MERCURE_ISSUERS_FILE: the file holds no JSON array/],
    [
      'an empty identifier',
      [{ issuer: '', publisher: KEY }],
      /^MERCURE_ISSUERS_FILE\[0\]\.issuer: /,
    ],
    [
      'a blank identifier',
      [{ issuer: ' ', publisher: KEY }],
      /^MERCURE_ISSUERS_FILE\[0\]\.issuer: /,
    ],
    ['no identifier', [{ publisher: KEY }], /^MERCURE_ISSUERS_FILE\[0\]\.issuer: /],
    [
      'the same identifier twice',
      [
        { issuer: 'a', publisher: KEY },
        { issuer: 'a', subscriber: KEY },
      ],
      /"a" is there twice/,
    ],
    [
      'no verifier at all',
      [{ issuer: 'a' }],
      /^MERCURE_ISSUERS_FILE\[0\]: expected a publisher or a subscriber/,
    ],
    [
      'an unknown member',
      [{ issuer: 'a', publisher: KEY, subscribers: KEY }],
      /^MERCURE_ISSUERS_FILE\[0\]\.subscribers: /,
    ],
    [
      'an unknown member of a verifier',
      [{ issuer: 'a', publisher: { ...KEY, jwt_algo: 'HS256' } }],
      /^MERCURE_ISSUERS_FILE\[0\]\.publisher/,
    ],
    [
      'key and JWK set',
      [{ issuer: 'a', publisher: { ...KEY, jwks_uri: 'https://a' } }],
      /^MERCURE_ISSUERS_FILE\[0\]\.publisher/,
    ],
    [
      'an empty key',
      [{ issuer: 'a', publisher: { jwt_key: '' } }],
      /^MERCURE_ISSUERS_FILE\[0\]\.publisher/,
    ],
    [
      'an unknown algorithm',
      [{ issuer: 'a', publisher: { ...KEY, jwt_alg: 'none' } }],
      /^MERCURE_ISSUERS_FILE\[0\]\.publisher/,
    ],
    [
      'a raw key with RS256',
      [{ issuer: 'a', publisher: { ...KEY, jwt_alg: 'RS256' } }],
      /^MERCURE_ISSUERS_FILE\[0\]\.publisher\.jwt_key: RS256 needs/,
    ],
    [
      'PEM without algorithm',
      [{ issuer: 'a', publisher: { jwt_key: rsaKey().publicPem } }],
      /^MERCURE_ISSUERS_FILE\[0\]\.publisher\.jwt_alg: a PEM key/,
    ],
    [
      'authorization_server as text',
      [{ issuer: 'a', publisher: KEY, authorization_server: 'yes' }],
      /^MERCURE_ISSUERS_FILE\[0\]\.authorization_server: /,
    ],
    ['an entry that is no object', [null], /^MERCURE_ISSUERS_FILE\[0\]: /],
  ])('%s', (_, content, message) => {
    const problems = problemsOf(content)
    expect(problems).toEqual([expect.stringMatching(message)])
    expect(problems.join()).not.toContain(KEY.jwt_key)
  })

  it.each<[string, Env, RegExp]>([
    ['a missing file', { MERCURE_ISSUERS_FILE: '/no/such/file' }, /^MERCURE_ISSUERS_FILE: /],
    ['an issuer without keys', { MERCURE_ISSUER: 'https://i' }, /^MERCURE_ISSUER: expected/],
    [
      'a blank issuer',
      { MERCURE_ISSUER: '  ', MERCURE_PUBLISHER_JWT_KEY: 'x' },
      /^MERCURE_ISSUER: got only blanks/,
    ],
    [
      'two names of the issuer that differ',
      { MERCURE_ISSUER: 'a', MERCURE_TRUSTED_ISSUERS: 'b', MERCURE_PUBLISHER_JWT_KEY: 'x' },
      /^MERCURE_TRUSTED_ISSUERS: differs/,
    ],
    [
      'an authorization server that is nobody',
      { MERCURE_AUTHORIZATION_SERVER: 'true' },
      /^MERCURE_AUTHORIZATION_SERVER: needs MERCURE_ISSUER/,
    ],
  ])('%s', (_, env, message) => {
    expect(() => loadHubConfig(env)).toThrow(message)
  })

  it('the issuer of the environment again in the file', () => {
    const env = { MERCURE_ISSUER: 'https://a', MERCURE_PUBLISHER_JWT_KEY: 'x' }
    const problems = problemsOf([{ issuer: 'https://a', subscriber: KEY }], env)
    expect(problems).toEqual([expect.stringContaining('MERCURE_ISSUER')])
  })

  it('a secret in the file that is short or has white space at its edge is warned about, not told', () => {
    const padded = `${'b'.repeat(40)} `
    const { warnings } = load([
      { issuer: 'https://a', publisher: { jwt_key: 'fixture' }, subscriber: { jwt_key: padded } },
    ])
    const place = 'MERCURE_ISSUERS_FILE: the'
    expect(warnings).toEqual([
      `${place} publisher key of "https://a" has 7 bytes, it should have 32 or more random ones`,
      `${place} subscriber key of "https://a" begins or ends with white space, which is part of the secret`,
    ])
  })

  it('a role that no issuer verifies is no failure', () => {
    expect(load([{ issuer: 'a', publisher: KEY }]).issuers[0]).toMatchObject({
      subscriber: undefined,
    })
  })

  it('MERCURE_TRUSTED_ISSUERS is another name of MERCURE_ISSUER', () => {
    const env = { MERCURE_TRUSTED_ISSUERS: 'https://t', MERCURE_PUBLISHER_JWT_KEY: 'x' }
    expect(loadHubConfig(env).issuers[0]?.issuer).toBe('https://t')
    expect(loadHubConfig({ ...env, MERCURE_ISSUER: 'https://t' }).issuers[0]?.issuer).toBe(
      'https://t',
    )
  })

  it('keys without a name belong to https://localhost', () => {
    expect(loadHubConfig({ MERCURE_PUBLISHER_JWT_KEY: 'x' }).issuers[0]?.issuer).toBe(
      'https://localhost',
    )
  })
})
