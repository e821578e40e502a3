import { describe, expect, it } from 'vitest'
import {
  DEFAULT_JWKS_ALGORITHMS,
  DEV_RESOURCE_IDENTIFIER,
  DEV_SECRET,
  type HubConfig,
  loadConfig,
  loadHubConfig,
} from '../../src/config/index.ts'
import { certificatePem, ecKey, edKey, PEM_SPELLINGS, pkcs1Pem, rsaKey } from '../support/keys.ts'
import { problemsIn } from './problems.ts'

type Env = Readonly<Record<string, string>>

const KEYS = {
  MERCURE_PUBLISHER_JWT_KEY: 'of the publisher, 32 bytes or more',
  MERCURE_SUBSCRIBER_JWT_KEY: 'of the subscriber, 32 bytes or more',
}
const HUB = 'https://hub.shop.example/.well-known/mercure'

const problemsOf = (env: Env) => problemsIn(() => loadHubConfig(env))

function subscriberOf(env: Env): HubConfig['issuers'][number]['subscriber'] {
  return loadHubConfig({ MERCURE_ISSUER: 'https://i', ...env }).issuers[0]?.subscriber
}

describe('hub settings: defaults (section 20)', () => {
  it('are those of the protocol page', () => {
    expect(loadHubConfig({})).toEqual({
      enabled: false,
      issuers: [],
      resourceIdentifier: undefined,
      matcherBaseUrl: 'https://mercure-hub.invalid/.well-known/mercure',
      publicUrls: [],
      allowInsecureHttp: false,
      anonymous: false,
      subscriptions: false,
      publishOrigins: [],
      corsOrigins: [],
      cookieName: '__Secure-mercure_access_token',
      heartbeatMs: 40_000,
      writeTimeoutMs: 600_000,
      dispatchTimeoutMs: 5000,
      maxRequestBodyBytes: 1_048_576,
      transport: 'persistent',
      historySize: 0,
      cleanupFrequency: 0.3,
      topicMatcherCache: 100_000,
      subscriberListCacheSize: 100_000,
      debugger: false,
      dev: false,
      warnings: [],
    })
  })

  it('empty variables mean the default', () => {
    const empty = {
      MERCURE_ISSUER: '',
      MERCURE_ANONYMOUS: '',
      MERCURE_COOKIE_NAME: '',
      MERCURE_HEARTBEAT: '',
    }
    expect(loadHubConfig(empty)).toEqual(loadHubConfig({}))
  })

  it('the configuration is frozen and part of the whole one', () => {
    const { hub, warnings } = loadConfig({ ...KEYS, MERCURE_ALLOW_INSECURE_HTTP: '1' })
    expect(Object.isFrozen(hub)).toBe(true)
    expect(hub.issuers[0]?.issuer).toBe('https://localhost')
    expect(warnings).toContain('MERCURE_ALLOW_INSECURE_HTTP: tokens are accepted over plain HTTP')
  })

  it('an unknown name is warned about with the nearest known one (A07)', () => {
    const { warnings } = loadConfig({ MERCURE_ANNONYMOUS: 'true' })
    expect(warnings).toEqual([
      'MERCURE_ANNONYMOUS is not a known variable; did you mean MERCURE_ANONYMOUS?',
    ])
  })
})

describe('hub settings: on and off', () => {
  it.each<[string, Env, boolean]>([
    ['nothing', {}, false],
    ['anonymous', { MERCURE_ANONYMOUS: 'true' }, true],
    ['development mode', { MERCURE_DEV: 'true' }, true],
    ['a key', { MERCURE_PUBLISHER_JWT_KEY: 'x' }, true],
    ['subscriptions alone', { MERCURE_SUBSCRIPTIONS: 'true' }, false],
  ])('%s: enabled is %s', (_, env, enabled) => {
    expect(loadHubConfig(env).enabled).toBe(enabled)
  })
})

describe('hub settings: values that are read', () => {
  it.each<[string, string, keyof HubConfig, unknown]>([
    ['MERCURE_HEARTBEAT', '500ms', 'heartbeatMs', 500],
    ['MERCURE_HEARTBEAT', '0', 'heartbeatMs', 0],
    ['MERCURE_WRITE_TIMEOUT', '1h30m', 'writeTimeoutMs', 5_400_000],
    ['MERCURE_DISPATCH_TIMEOUT', '2', 'dispatchTimeoutMs', 2000],
    ['MERCURE_MAX_REQUEST_BODY_SIZE', '1KB', 'maxRequestBodyBytes', 1000],
    ['MERCURE_MAX_REQUEST_BODY_SIZE', '1KiB', 'maxRequestBodyBytes', 1024],
    ['MERCURE_MAX_REQUEST_BODY_SIZE', '2mib', 'maxRequestBodyBytes', 2_097_152],
    ['MERCURE_MAX_REQUEST_BODY_SIZE', '4096', 'maxRequestBodyBytes', 4096],
    ['MERCURE_MAX_REQUEST_BODY_SIZE', '0', 'maxRequestBodyBytes', 0],
    ['MERCURE_TRANSPORT', 'local', 'transport', 'local'],
    ['MERCURE_HISTORY_SIZE', '1000', 'historySize', 1000],
    ['MERCURE_CLEANUP_FREQUENCY', '0', 'cleanupFrequency', 0],
    ['MERCURE_CLEANUP_FREQUENCY', '1', 'cleanupFrequency', 1],
    ['MERCURE_CLEANUP_FREQUENCY', '.25', 'cleanupFrequency', 0.25],
    ['MERCURE_TOPIC_MATCHER_CACHE', '-1', 'topicMatcherCache', 0],
    ['MERCURE_SUBSCRIBER_LIST_CACHE_SIZE', '0', 'subscriberListCacheSize', 0],
    ['MERCURE_COOKIE_NAME', 'hub_token', 'cookieName', 'hub_token'],
    [
      'MERCURE_PUBLIC_URLS',
      'HTTPS://Hub.example:443/x?y, http://h:8080',
      'publicUrls',
      ['https://hub.example', 'http://h:8080'],
    ],
    [
      'MERCURE_CORS_ORIGINS',
      'https://A.example, http://[::1]:80,null',
      'corsOrigins',
      ['https://a.example', 'http://[::1]:80', 'null'],
    ],
    ['MERCURE_CORS_ORIGINS', '*', 'corsOrigins', ['*']],
    [
      'MERCURE_PUBLISH_ORIGINS',
      'https://*.shop.example,http://localhost:*,capacitor://localhost',
      'publishOrigins',
      ['https://*.shop.example', 'http://localhost:*', 'capacitor://localhost'],
    ],
    ['MERCURE_RESOURCE_IDENTIFIER', HUB, 'matcherBaseUrl', HUB],
    ['MERCURE_RESOURCE_IDENTIFIER', 'https://h/x', 'resourceIdentifier', 'https://h/x'],
    [
      'MERCURE_RESOURCE_IDENTIFIER',
      'https://h/x',
      'matcherBaseUrl',
      'https://mercure-hub.invalid/.well-known/mercure',
    ],
    [
      'MERCURE_RESOURCE_IDENTIFIER',
      `${HUB}?x`,
      'matcherBaseUrl',
      'https://mercure-hub.invalid/.well-known/mercure',
    ],
  ])('%s=%s', (name, value, key, expected) => {
    expect(loadHubConfig({ [name]: value })[key]).toEqual(expected)
  })

  it('the resource identifier is kept as written; another scheme than https is warned about', () => {
    const written = 'HTTP://Hub.example:80/.well-known/mercure'
    const config = loadHubConfig({ MERCURE_RESOURCE_IDENTIFIER: written })
    expect(config.resourceIdentifier).toBe(written)
    expect(config.warnings).toEqual(['MERCURE_RESOURCE_IDENTIFIER does not begin with https:'])
  })
})

describe('hub settings: a value of the wrong form stops start-up and is named (sections 2, 16, 20, checklist 59)', () => {
  it.each([
    ['MERCURE_RESOURCE_IDENTIFIER', 'foo'],
    ['MERCURE_RESOURCE_IDENTIFIER', '/relative'],
    ['MERCURE_RESOURCE_IDENTIFIER', 'https://h/x#frag'],
    ['MERCURE_RESOURCE_IDENTIFIER', 'https://h/x#'],
    ['MERCURE_RESOURCE_IDENTIFIER', 'https:h'],
    ['MERCURE_RESOURCE_IDENTIFIER', 'mailto:x@y'],
    ['MERCURE_RESOURCE_IDENTIFIER', 'file:///x'],
    ['MERCURE_RESOURCE_IDENTIFIER', ' https://h/x'],
    ['MERCURE_PUBLIC_URLS', 'hub.example'],
    ['MERCURE_PUBLIC_URLS', 'https://ok.example,/x'],
    ['MERCURE_CORS_ORIGINS', 'https://a.example/'],
    ['MERCURE_CORS_ORIGINS', 'https://a.example/x'],
    ['MERCURE_CORS_ORIGINS', 'https://a.example?x'],
    ['MERCURE_CORS_ORIGINS', 'https://a.example#x'],
    ['MERCURE_CORS_ORIGINS', 'https://u@a.example'],
    ['MERCURE_CORS_ORIGINS', 'https://*.*.example'],
    ['MERCURE_CORS_ORIGINS', 'https://*.example:*'],
    ['MERCURE_CORS_ORIGINS', 'a.example'],
    ['MERCURE_CORS_ORIGINS', 'https://'],
    ['MERCURE_CORS_ORIGINS', 'https://:80'],
    ['MERCURE_CORS_ORIGINS', '**'],
    ['MERCURE_PUBLISH_ORIGINS', 'https://a.example:x'],
    ['MERCURE_COOKIE_NAME', 'a b'],
    ['MERCURE_COOKIE_NAME', 'a=b'],
    ['MERCURE_COOKIE_NAME', 'a;b'],
    ['MERCURE_ANONYMOUS', 'yes'],
    ['MERCURE_DEV', 'on'],
    ['MERCURE_HEARTBEAT', '5 s'],
    ['MERCURE_HEARTBEAT', '-1'],
    ['MERCURE_WRITE_TIMEOUT', '1d'],
    ['MERCURE_MAX_REQUEST_BODY_SIZE', '1XB'],
    ['MERCURE_MAX_REQUEST_BODY_SIZE', '2GiB'],
    ['MERCURE_TRANSPORT', 'bolt'],
    ['MERCURE_HISTORY_SIZE', '-1'],
    ['MERCURE_CLEANUP_FREQUENCY', '1.1'],
    ['MERCURE_CLEANUP_FREQUENCY', '1e-1'],
    ['MERCURE_TOPIC_MATCHER_CACHE', 'x'],
    ['MERCURE_PUBLISHER_JWT_ALG', 'none'],
    ['MERCURE_PUBLISHER_JWT_ALG', 'hs256'],
    ['MERCURE_PUBLISHER_JWKS_ALGS', 'RS256,none'],
  ])('%s=%s', (name, value) => {
    expect(problemsOf({ [name]: value })).toEqual([expect.stringMatching(new RegExp(`^${name}: `))])
  })

  it('all wrong settings are named at once', () => {
    const env = { MERCURE_DEV: 'on', MERCURE_HEARTBEAT: 'x', MERCURE_ISSUER: 'https://i' }
    expect(problemsOf(env).map((line) => line.split(':')[0])).toEqual([
      'MERCURE_HEARTBEAT',
      'MERCURE_DEV',
      'MERCURE_ISSUER',
    ])
  })
})

describe('verifiers (section 6.2, checklist 14, A15)', () => {
  const pem = rsaKey().publicPem

  it.each<[string, Env, RegExp]>([
    [
      'PEM without an algorithm',
      { MERCURE_SUBSCRIBER_JWT_KEY: pem },
      /^MERCURE_SUBSCRIBER_JWT_ALG: a PEM key needs/,
    ],
    [
      'PEM with an empty algorithm',
      { MERCURE_SUBSCRIBER_JWT_KEY: pem, MERCURE_SUBSCRIBER_JWT_ALG: '' },
      /^MERCURE_SUBSCRIBER_JWT_ALG: /,
    ],
    [
      'PEM with HS256',
      { MERCURE_SUBSCRIBER_JWT_KEY: pem, MERCURE_SUBSCRIBER_JWT_ALG: 'HS256' },
      /^MERCURE_SUBSCRIBER_JWT_ALG: got HS256 for a PEM key/,
    ],
    [
      'PEM behind a comment with HS256',
      { MERCURE_SUBSCRIBER_JWT_KEY: `# key\n${pem}`, MERCURE_SUBSCRIBER_JWT_ALG: 'HS256' },
      /^MERCURE_SUBSCRIBER_JWT_ALG: /,
    ],
    [
      'RSA PEM with ES256',
      { MERCURE_SUBSCRIBER_JWT_KEY: pem, MERCURE_SUBSCRIBER_JWT_ALG: 'ES256' },
      /^MERCURE_SUBSCRIBER_JWT_KEY: holds a key of kind rsa/,
    ],
    [
      'P-256 PEM with ES384',
      { MERCURE_SUBSCRIBER_JWT_KEY: ecKey().publicPem, MERCURE_SUBSCRIBER_JWT_ALG: 'ES384' },
      /^MERCURE_SUBSCRIBER_JWT_KEY: holds a key of kind ec prime256v1/,
    ],
    [
      'unparsable PEM',
      {
        MERCURE_SUBSCRIBER_JWT_KEY: '-----BEGIN PUBLIC KEY-----\nx\n-----END PUBLIC KEY-----',
        MERCURE_SUBSCRIBER_JWT_ALG: 'RS256',
      },
      /^MERCURE_SUBSCRIBER_JWT_KEY: is no public key/,
    ],
    [
      'a private PEM',
      { MERCURE_SUBSCRIBER_JWT_KEY: rsaKey().privatePem, MERCURE_SUBSCRIBER_JWT_ALG: 'RS256' },
      /^MERCURE_SUBSCRIBER_JWT_KEY: holds a private key/,
    ],
    [
      'an RSA key of 1024 bits',
      {
        MERCURE_SUBSCRIBER_JWT_KEY: rsaKey('weak', 1024).publicPem,
        MERCURE_SUBSCRIBER_JWT_ALG: 'RS256',
      },
      /^MERCURE_SUBSCRIBER_JWT_KEY: holds an RSA key of 1024 bits/,
    ],
    [
      'a raw key with RS256',
      { MERCURE_SUBSCRIBER_JWT_KEY: 'secret', MERCURE_SUBSCRIBER_JWT_ALG: 'RS256' },
      /^MERCURE_SUBSCRIBER_JWT_KEY: RS256 needs a public key/,
    ],
    [
      'key and JWK set',
      { MERCURE_SUBSCRIBER_JWT_KEY: 'secret', MERCURE_SUBSCRIBER_JWKS_URI: 'https://i/jwks' },
      /^MERCURE_SUBSCRIBER_JWT_KEY: set beside MERCURE_SUBSCRIBER_JWKS_URI/,
    ],
    [
      'ftp JWK set',
      { MERCURE_SUBSCRIBER_JWKS_URI: 'ftp://i/jwks' },
      /^MERCURE_SUBSCRIBER_JWKS_URI: got "ftp:/,
    ],
    [
      'JWK set that is no URL',
      { MERCURE_SUBSCRIBER_JWKS_URI: 'jwks' },
      /^MERCURE_SUBSCRIBER_JWKS_URI: /,
    ],
    [
      'file JWK set that is missing',
      { MERCURE_SUBSCRIBER_JWKS_URI: 'file:///no/such/file' },
      /^MERCURE_SUBSCRIBER_JWKS_URI: the file cannot be read/,
    ],
    [
      'file JWK set of another host',
      { MERCURE_SUBSCRIBER_JWKS_URI: 'file://host/x' },
      /^MERCURE_SUBSCRIBER_JWKS_URI: a file URL names no host/,
    ],
  ])('%s stops start-up', (_, env, message) => {
    const problems = problemsOf({ MERCURE_ISSUER: 'https://i', ...env })
    expect(problems).toEqual([expect.stringMatching(message)])
    for (const value of Object.values(env))
      if (value.length > 10) expect(problems[0]).not.toContain(value.slice(30, 80) || '\0')
  })

  it.each<[string, string, string]>([
    ['RS256', rsaKey().publicPem, 'RS256'],
    ['PKCS#1', pkcs1Pem(rsaKey()), 'PS512'],
    ['a certificate', certificatePem(rsaKey()), 'RS384'],
    ['P-256', ecKey().publicPem, 'ES256'],
    ['P-521', ecKey('ec-521', 'P-521').publicPem, 'ES512'],
    ['Ed25519', edKey().publicPem, 'EdDSA'],
    ...(
      ['escapedLineFeeds', 'carriageReturns', 'edgeBlanks', 'commentInFront', 'quoted'] as const
    ).map((spelling): [string, string, string] => [
      spelling,
      PEM_SPELLINGS[spelling](rsaKey().publicPem),
      'RS256',
    ]),
  ])('PEM: %s (A21)', (_, key, alg) => {
    const env = { MERCURE_SUBSCRIBER_JWT_KEY: key, MERCURE_SUBSCRIBER_JWT_ALG: alg }
    expect(subscriberOf(env)).toMatchObject({ kind: 'pem', algorithm: alg })
  })

  it('a raw secret is HS256 unless stated, and taken byte for byte', () => {
    expect(subscriberOf({ MERCURE_SUBSCRIBER_JWT_KEY: ' !ChangeMe!\n' })).toEqual({
      kind: 'secret',
      secret: ' !ChangeMe!\n',
      algorithm: 'HS256',
    })
    const env = { MERCURE_SUBSCRIBER_JWT_KEY: 'x', MERCURE_SUBSCRIBER_JWT_ALG: 'HS512' }
    expect(subscriberOf(env)).toMatchObject({ algorithm: 'HS512' })
  })

  it('a JWK set takes the asymmetric algorithms unless some are listed', () => {
    const url = 'https://idp.example/jwks'
    const set = { kind: 'jwks', url, algorithms: DEFAULT_JWKS_ALGORITHMS }
    expect(subscriberOf({ MERCURE_SUBSCRIBER_JWKS_URI: url })).toEqual(set)
    expect(DEFAULT_JWKS_ALGORITHMS.some((name) => name.startsWith('HS'))).toBe(false)
    const env = { MERCURE_SUBSCRIBER_JWKS_URI: url, MERCURE_SUBSCRIBER_JWKS_ALGS: 'ES256, RS256' }
    expect(subscriberOf(env)).toMatchObject({ algorithms: ['ES256', 'RS256'] })
  })

  it('a secret with white space at its edge is warned about and stays as it is (A53)', () => {
    const secret = `${'secret'.repeat(6)}\n`
    const { warnings, issuers } = loadHubConfig({ ...KEYS, MERCURE_PUBLISHER_JWT_KEY: secret })
    expect(issuers[0]?.publisher).toMatchObject({ secret })
    expect(warnings).toEqual([
      expect.stringMatching(/^MERCURE_PUBLISHER_JWT_KEY begins or ends with/),
    ])
    expect(warnings.join()).not.toContain(secret)
  })

  it.each([
    ['HS256', 31, 32],
    ['HS384', 47, 48],
    ['HS512', 63, 64],
  ])(
    'a secret shorter than the hash of %s starts and is warned about (A25)',
    (alg, have, least) => {
      const of = (bytes: number) => {
        const env = { MERCURE_PUBLISHER_JWT_KEY: 'x'.repeat(bytes), MERCURE_PUBLISHER_JWT_ALG: alg }
        return loadHubConfig(env).warnings
      }
      expect(of(least)).toEqual([])
      expect(of(have)).toEqual([
        `MERCURE_PUBLISHER_JWT_KEY has ${have} bytes, it should have ${least} or more random ones`,
      ])
    },
  )

  it('an algorithm without its key is warned about', () => {
    const { warnings } = loadHubConfig({ ...KEYS, MERCURE_PUBLISHER_JWKS_ALGS: 'RS256' })
    expect(warnings).toEqual([
      'MERCURE_PUBLISHER_JWKS_ALGS has no effect without MERCURE_PUBLISHER_JWKS_URI',
    ])
  })
})

describe('development mode (section 19, checklist 62)', () => {
  it('works with no configuration', () => {
    const key = { kind: 'secret', secret: DEV_SECRET, algorithm: 'HS256' }
    expect(loadHubConfig({ MERCURE_DEV: 'true' })).toMatchObject({
      enabled: true,
      dev: true,
      anonymous: true,
      subscriptions: true,
      debugger: true,
      allowInsecureHttp: true,
      cookieName: 'mercure_access_token',
      corsOrigins: ['*'],
      publishOrigins: ['*'],
      resourceIdentifier: DEV_RESOURCE_IDENTIFIER,
      matcherBaseUrl: DEV_RESOURCE_IDENTIFIER,
      issuers: [{ issuer: 'https://localhost', publisher: key, subscriber: key }],
    })
  })

  it('explicit settings win where the page says "unless set"', () => {
    const config = loadHubConfig({
      MERCURE_DEV: 'true',
      MERCURE_ANONYMOUS: 'false',
      MERCURE_COOKIE_NAME: 'mine',
      MERCURE_CORS_ORIGINS: 'https://a.example',
      MERCURE_PUBLISH_ORIGINS: 'https://b.example',
      MERCURE_RESOURCE_IDENTIFIER: HUB,
      MERCURE_ISSUER: 'https://i',
    })
    expect(config).toMatchObject({
      anonymous: true,
      cookieName: 'mine',
      corsOrigins: ['https://a.example'],
      publishOrigins: ['https://b.example'],
      resourceIdentifier: HUB,
      issuers: [{ issuer: 'https://i', publisher: { secret: DEV_SECRET } }],
    })
  })

  it('with any key given nothing is filled in', () => {
    const { issuers, warnings } = loadHubConfig({
      MERCURE_DEV: '1',
      MERCURE_SUBSCRIBER_JWT_KEY: 'mine',
    })
    expect(issuers).toEqual([
      expect.objectContaining({
        publisher: undefined,
        subscriber: expect.objectContaining({ secret: 'mine' }),
      }),
    ])
    expect(warnings.join()).not.toContain('secret')
  })

  it('the known secret is logged', () => {
    expect(loadHubConfig({ MERCURE_DEV: '1' }).warnings.join()).toContain(
      'well-known development secret',
    )
  })

  it('the known secret exists only behind the switch (H36)', () => {
    expect(problemsOf({ MERCURE_ISSUER: 'https://i' })).toEqual([
      expect.stringMatching(/^MERCURE_ISSUER: /),
    ])
  })
})
