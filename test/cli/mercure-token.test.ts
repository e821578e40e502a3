import { createHmac } from 'node:crypto'
import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { compactVerify, decodeJwt, decodeProtectedHeader } from 'jose'
import { describe, expect, it } from 'vitest'
import { createTopicMatchers, MatchCache } from '../../src/access/index.ts'
import { loadHubConfig } from '../../src/config/index.ts'
import { createHubAuthenticator } from '../../src/hub/index.ts'
import { bearing, HUB, ISSUER } from '../hub/hub-tokens.ts'
import { type CommandInput, type CommandResult, runCommand } from '../support/command.ts'
import { ecKey, edKey, rsaKey } from '../support/keys.ts'

const DEV_SECRET = '!ChangeThisMercureHubJWTSecretKey!'
const TYPE = 'https://mercure.rocks/authorization-detail'
const folder = mkdtempSync(join(tmpdir(), 'mercure-token-'))

function run(args: readonly string[], input: CommandInput = {}): Promise<CommandResult> {
  return runCommand('mercure-token.ts', 'mercureTokenCommand', ['mercure-token', ...args], input)
}

/** What every successful call needs; an argument given again wins. */
function base(...more: readonly string[]): readonly string[] {
  return ['--iss', ISSUER, '--aud', HUB, '--key', '!ChangeMe!', '--publish', 'a', ...more]
}

async function mint(args: readonly string[], input: CommandInput = {}) {
  const result = await run(args, input)
  expect(result.code).toBe(0)
  // Short secrets are what hubs are tried out with.
  expect(result.stderr).toMatch(/^(warning: the secret has \d+ bytes, .*\n)?$/)
  expect(result.stdout).toMatch(/^[\w-]+\.[\w-]+\.[\w-]+\n$/)
  const token = result.stdout.trim()
  return { token, header: decodeProtectedHeader(token), claims: decodeJwt(token) }
}

function fileOf(name: string, text: string): string {
  const path = join(folder, name)
  writeFileSync(path, text)
  return `@${path}`
}

function isSignedWith(token: string, secret: string): boolean {
  const at = token.lastIndexOf('.')
  const mac = createHmac('sha256', secret).update(token.slice(0, at)).digest('base64url')
  return mac === token.slice(at + 1)
}

describe('mercure-token: what it mints (section 18, checklist 60)', () => {
  it('fills in sub, client_id, iat, exp, jti and the header', async () => {
    const { header, claims, token } = await mint(base())
    expect(header).toEqual({ alg: 'HS256', typ: 'at+jwt' })
    expect(claims).toMatchObject({ iss: ISSUER, aud: HUB, client_id: ISSUER })
    expect(claims.sub).toMatch(/^urn:uuid:[0-9a-f-]{14}4/)
    expect(claims.jti).toMatch(/^urn:uuid:/)
    expect(claims.jti).not.toBe(claims.sub)
    expect((claims.exp ?? 0) - (claims.iat ?? 0)).toBe(3600)
    expect(isSignedWith(token, '!ChangeMe!')).toBe(true)
  })

  it('takes every claim flag', async () => {
    const flags = [
      '--kid',
      'k',
      '--sub',
      's',
      '--client-id',
      'c',
      '--ttl',
      '1h30m',
      '--alg',
      'HS512',
    ]
    const { header, claims } = await mint(base(...flags))
    expect(header).toEqual({ alg: 'HS512', typ: 'at+jwt', kid: 'k' })
    expect(claims).toMatchObject({ sub: 's', client_id: 'c' })
    expect((claims.exp ?? 0) - (claims.iat ?? 0)).toBe(5400)
  })

  it('writes one publish detail, then one subscribe detail; exact topics first, without match_type', async () => {
    const { claims } = await mint([
      ...['--iss', ISSUER, '--aud', HUB, '--key', 'k'],
      ...['--subscribe-urlpattern', '/s/:1', '--subscribe', 's1', '--publish-urlpattern', '/p/:1'],
      ...['--publish', 'p1', '--publish', 'p2', '--subscribe', 's2', '--payload', '{"nick":"ada"}'],
    ])
    expect(claims['authorization_details']).toEqual([
      {
        type: TYPE,
        actions: ['publish'],
        topics: [{ match: 'p1' }, { match: 'p2' }, { match: '/p/:1', match_type: 'urlpattern' }],
      },
      {
        type: TYPE,
        actions: ['subscribe'],
        topics: [{ match: 's1' }, { match: 's2' }, { match: '/s/:1', match_type: 'urlpattern' }],
        payload: { nick: 'ada' },
      },
    ])
  })

  it.each(['false', '"text"'])('payload %s', async (payload) => {
    const { claims } = await mint(base('--subscribe', 's', '--payload', payload))
    expect(claims['authorization_details']).toMatchObject([{}, { payload: JSON.parse(payload) }])
  })

  it('topics are not checked here: the hub does that', async () => {
    const { claims } = await mint(base('--publish-urlpattern', '/(unclosed'))
    expect(claims['authorization_details']).toMatchObject([
      { topics: [{}, { match: '/(unclosed' }] },
    ])
  })

  it('--pretty prints header and claims to standard error, never the key', async () => {
    const { code, stdout, stderr } = await run(base('--pretty', '--key', DEV_SECRET))
    expect(code).toBe(0)
    expect(stdout.split('\n')).toHaveLength(2)
    expect(JSON.parse(stderr)).toMatchObject({ header: { typ: 'at+jwt' }, claims: { iss: ISSUER } })
    expect(stderr).not.toContain(DEV_SECRET)
  })

  it('--help lists all flags', async () => {
    const { code, stdout } = await run(['--help'])
    expect(code).toBe(0)
    for (const flag of [
      'iss',
      'aud',
      'key',
      'alg',
      'kid',
      'sub',
      'client-id',
      'ttl',
      'payload',
      'publish',
      'publish-urlpattern',
      'subscribe',
      'subscribe-urlpattern',
      'pretty',
      'dev',
      'help',
    ]) {
      expect(stdout).toMatch(new RegExp(`--${flag}\\b`))
    }
  })

  it('--payload without a subscribe grant is noted', async () => {
    const { code, stdout, stderr } = await run(base('--payload', '1'))
    expect(code).toBe(0)
    expect(stderr).toContain('--payload has no effect')
    expect(stdout).toMatch(/^\S+\n$/)
  })
})

describe('mercure-token: key material (section 18, A60)', () => {
  it('standard input', async () => {
    const { token } = await mint(base('--key', '@-'), { stdin: 'secret\r\n' })
    expect(isSignedWith(token, 'secret')).toBe(true)
  })

  it.each([
    ['no line end', 'secret', 'secret'],
    ['LF', 'secret\n', 'secret'],
    ['CR LF', 'secret\r\n', 'secret'],
    ['CR', 'secret\r', 'secret'],
    ['two LF lose one', 'secret\n\n', 'secret\n'],
    ['inner blanks stay', ' se cret ', ' se cret '],
  ])('a file: %s', async (name, text, secret) => {
    const fromFile = await mint(base('--key', fileOf(name, text)))
    expect(isSignedWith(fromFile.token, secret)).toBe(true)
  })

  it('an inline secret is used as it is', async () => {
    expect(isSignedWith((await mint(base('--key', 'x\n'))).token, 'x\n')).toBe(true)
  })

  it.each([
    ['RS256', rsaKey()],
    ['RS512', rsaKey()],
    ['PS384', rsaKey()],
    ['ES256', ecKey()],
    ['ES384', ecKey('ec-384', 'P-384')],
    ['ES512', ecKey('ec-521', 'P-521')],
    ['EdDSA', edKey()],
  ])('%s from a PEM private key', async (alg, key) => {
    const source = alg === 'EdDSA' ? fileOf('ed.pem', key.privatePem) : key.privatePem
    const { token, header } = await mint(base('--key', source, '--alg', alg))
    expect(header.alg).toBe(alg)
    await expect(compactVerify(token, key.publicKey)).resolves.toMatchObject({})
    // R and S side by side (RFC 7518 section 3.4), not DER.
    const bytes = Buffer.from(token.split('.')[2] ?? '', 'base64url').length
    if (alg === 'ES256') expect(bytes).toBe(64)
  })
})

describe('mercure-token: failures (section 18)', () => {
  it.each<[string, readonly string[], RegExp]>([
    ['no --iss', ['--aud', HUB, '--key', 'k', '--publish', 'a'], /--iss is missing/],
    ['no --aud', ['--iss', ISSUER, '--key', 'k', '--publish', 'a'], /--aud is missing/],
    ['no --key', ['--iss', ISSUER, '--aud', HUB, '--publish', 'a'], /--key is missing/],
    ['no grant flag', ['--iss', ISSUER, '--aud', HUB, '--key', 'k'], /at least one of --publish/],
    ['payload no JSON', base('--payload', '{x'), /--payload/],
    ['key file missing', base('--key', '@/no/such/file'), /--key: .*cannot be read/],
    ['PEM without --alg', base('--key', rsaKey().privatePem), /--alg is missing/],
    ['PEM with HS256', base('--key', rsaKey().privatePem, '--alg', 'HS256'), /--alg: HS256/],
    ['unknown algorithm', base('--alg', 'HS1'), /--alg/],
    ['algorithm none', base('--alg', 'none'), /--alg/],
    ['public PEM', base('--key', rsaKey().publicPem, '--alg', 'RS256'), /not a private key/],
    [
      'RSA PEM with ES256',
      base('--key', rsaKey().privatePem, '--alg', 'ES256'),
      /ES256 needs a key of kind/,
    ],
    [
      'P-256 PEM with ES384',
      base('--key', ecKey().privatePem, '--alg', 'ES384'),
      /ES384 needs a key of kind/,
    ],
    ['raw secret with RS256', base('--alg', 'RS256'), /--key: RS256 needs a private key/],
    ['empty key', base('--key', ''), /empty/],
    ['unknown flag', base('--nope'), /unknown option/],
    ['malformed duration', base('--ttl', '1x'), /--ttl/],
    ['zero duration', base('--ttl', '0'), /--ttl/],
    ['flag without its value', base('--kid'), /--kid/],
    ['a stray argument', base('stray'), /too many arguments/],
  ])(
    '%s: exit status 1, the message on standard error, nothing on standard output',
    async (_, args, message) => {
      const { code, stdout, stderr } = await run(args)
      expect(code).toBe(1)
      expect(stdout).toBe('')
      expect(stderr).toMatch(message)
      expect(stderr).not.toContain('PRIVATE KEY')
      expect(stderr).not.toContain('ChangeMe')
    },
  )
})

describe('mercure-token --dev (section 18, checklist 61)', () => {
  it('fills in issuer, audience, secret, grants and the fixed expiry', async () => {
    const { claims, token } = await mint(['--dev', '--ttl', '5m'])
    expect(claims).toMatchObject({
      iss: 'https://localhost',
      aud: 'https://localhost/.well-known/mercure',
      exp: 4_102_444_800,
      authorization_details: [
        { type: TYPE, actions: ['publish'], topics: [{ match: '*' }] },
        { type: TYPE, actions: ['subscribe'], topics: [{ match: '*' }] },
      ],
    })
    expect(isSignedWith(token, DEV_SECRET)).toBe(true)
  })

  it('never overrides a flag that was given', async () => {
    const { claims, token } = await mint(['--dev', ...base()])
    expect(claims).toMatchObject({ iss: ISSUER, aud: HUB, exp: 4_102_444_800 })
    expect(claims['authorization_details']).toEqual([
      { type: TYPE, actions: ['publish'], topics: [{ match: 'a' }] },
    ])
    expect(isSignedWith(token, '!ChangeMe!')).toBe(true)
  })

  it('honours the publisher key of the environment unless it is empty', async () => {
    const own = await mint(['--dev'], { env: { MERCURE_PUBLISHER_JWT_KEY: 'mine' } })
    expect(isSignedWith(own.token, 'mine')).toBe(true)
    const empty = await mint(['--dev'], { env: { MERCURE_PUBLISHER_JWT_KEY: '' } })
    expect(isSignedWith(empty.token, DEV_SECRET)).toBe(true)
  })

  it('is accepted by a development hub with no further configuration', async () => {
    const { token } = await mint(['--dev'])
    const config = loadHubConfig({ MERCURE_DEV: 'true' })
    const matchers = createTopicMatchers(config.matcherBaseUrl, new MatchCache(10))
    const hub = createHubAuthenticator({ config, matchers, clock: Date })
    const resourceIdentifier = config.resourceIdentifier ?? ''
    const request = bearing(token, { scheme: 'http', resourceIdentifier })
    for (const role of ['publisher', 'subscriber'] as const) {
      const { grants } = await hub.authenticate(request, role)
      expect(grants.allows(role === 'publisher' ? 'publish' : 'subscribe', 'x')).toBe(true)
    }
  })
})

describe('a minted token on a hub with the same values', () => {
  it('is accepted, with the grants that were asked for', async () => {
    const { token } = await mint(base('--subscribe-urlpattern', `${ISSUER}/books/:id`))
    const config = loadHubConfig({
      MERCURE_ISSUER: ISSUER,
      MERCURE_PUBLISHER_JWT_KEY: '!ChangeMe!',
      MERCURE_SUBSCRIBER_JWT_KEY: '!ChangeMe!',
      MERCURE_RESOURCE_IDENTIFIER: HUB,
    })
    const matchers = createTopicMatchers(HUB, new MatchCache(10))
    const hub = createHubAuthenticator({ config, matchers, clock: Date })
    const { grants } = await hub.authenticate(bearing(token), 'subscriber')
    expect(grants.allows('publish', 'a')).toBe(true)
    expect(grants.allows('subscribe', `${ISSUER}/books/1`)).toBe(true)
    expect(grants.allows('subscribe', 'a')).toBe(false)
  })
})
