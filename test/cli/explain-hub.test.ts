import { describe, expect, it } from 'vitest'
import { accessToken, detail, HUB, hubEnvironment, publisherToken } from '../hub/hub-tokens.ts'
import { type CommandResult, runCommand } from '../support/command.ts'
import { ecKey } from '../support/keys.ts'
import { compactToken, withBrokenSignature } from '../support/tokens.ts'

const SHOP = 'https://shop.example'
const nowS = Math.floor(Date.now() / 1000)
const times = { iat: nowS, exp: nowS + 600 }
const details = [
  detail(['publish'], [{ match: `${SHOP}/books/:id`, match_type: 'urlpattern' }]),
  { type: 'foreign', topics: 'x' },
  detail(
    ['subscribe', 'publish'],
    [{ match: `${SHOP}/a` }, { match: `${SHOP}/people/*`, match_type: 'urlpattern' }],
  ),
]
const claims = { ...times, authorization_details: details }

function explain(
  args: readonly string[],
  env: Record<string, string> = {},
): Promise<CommandResult> {
  const all = Object.entries({ ...hubEnvironment(), ...env }).filter(
    (entry): entry is [string, string] => entry[1] !== undefined,
  )
  return runCommand('explain.ts', 'explainCommand', ['explain', ...args], {
    env: Object.fromEntries(all),
  })
}

describe('hivegate explain on the hub’s paths', () => {
  it('names the detail that covers each topic of a publish request', async () => {
    const token = publisherToken({ claims })
    const args = [
      'POST',
      '/.well-known/mercure',
      '--token',
      token,
      '--topic',
      `${SHOP}/books/1`,
      '--topic',
      `${SHOP}/a`,
    ]
    const { code, stdout } = await explain(args)
    expect(stdout).toContain(
      `${SHOP}/books/1: publish by authorization_details[0] urlpattern ${SHOP}/books/:id`,
    )
    expect(stdout).toContain(`${SHOP}/a: publish by authorization_details[2] exact ${SHOP}/a`)
    expect(stdout).toMatch(/allowed\n$/)
    expect(stdout).not.toContain(token)
    expect(code).toBe(0)
  })

  it('names the topic that no detail covers', async () => {
    const args = [
      'POST',
      '/.well-known/mercure',
      '--token',
      publisherToken({ claims }),
      '--topic',
      `${SHOP}/a`,
      '--topic',
      'urn:x',
    ]
    const { code, stdout } = await explain(args)
    expect(stdout).toContain('NO  topic       urn:x: nothing in the token grants publish')
    expect(stdout).toMatch(/refused: 403 insufficient_scope \(not_granted\)\n$/)
    expect(code).toBe(1)
  })

  it.each([
    ['signature', withBrokenSignature(accessToken({ claims })), 'signature_invalid'],
    [
      'audience',
      accessToken({ claims: { ...claims, aud: 'x' } }),
      'audience_invalid: aud is "x", wanted',
    ],
    ['expiry', accessToken({ claims: { ...claims, exp: nowS - 9 } }), 'token_expired'],
    ['typ', accessToken({ claims, header: { typ: 'JWT' } }), 'typ is not at+jwt'],
    [
      'issuer',
      accessToken({ claims: { ...claims, iss: 'x' } }),
      'iss is "x", wanted "https://shop.example"',
    ],
    [
      'details',
      accessToken({ claims: { ...claims, authorization_details: [detail(['subscribe'], [])] } }),
      'topics_invalid',
    ],
  ])('names the first rule that failed: %s', async (_, token, reason) => {
    const { code, stdout } = await explain([
      'GET',
      '/.well-known/mercure?match=a',
      '--token',
      token,
    ])
    expect(stdout).toContain(reason)
    expect(stdout).toMatch(/refused: 401 invalid_token \(token_invalid\)\n$/)
    expect(stdout).not.toContain(token)
    expect(code).toBe(1)
  })

  it('tells whether a private update would arrive on a stream', async () => {
    const token = accessToken({ claims })
    const target = `/.well-known/mercure?match_urlpattern=${SHOP}/books/:id`
    const topics = ['--topic', `${SHOP}/books/1`, '--topic', `${SHOP}/people/7`]
    const arrives = await explain(['GET', target, '--token', token, ...topics])
    expect(arrives.stdout).toContain(`${SHOP}/books/1: selected by the request`)
    expect(arrives.stdout).toContain(`${SHOP}/people/7: subscribe by authorization_details[2]`)
    expect(arrives.stdout).toContain('a private update with these topics arrives')
    const stranger = await explain(['GET', target, '--token', token, '--topic', `${SHOP}/books/1`])
    expect(stranger.stdout).toContain('does not arrive')
    expect([arrives.code, stranger.code]).toEqual([0, 0])
  })

  it.each<[string, readonly string[], Record<string, string>, RegExp]>([
    [
      'no token',
      ['GET', '/.well-known/mercure?match=a'],
      {},
      /401 no error code \(token_missing\)/,
    ],
    [
      'anonymous',
      ['GET', '/.well-known/mercure?match=a'],
      { MERCURE_ANONYMOUS: 'true' },
      /allowed/,
    ],
    [
      'no matcher',
      ['GET', '/.well-known/mercure'],
      { MERCURE_ANONYMOUS: 'true' },
      /400 \(matcher_missing\)/,
    ],
    [
      'plain HTTP',
      [
        'GET',
        '/.well-known/mercure?match=a',
        '--origin',
        'http://h',
        '--token',
        accessToken({ claims }),
      ],
      {},
      /400 invalid_request/,
    ],
    [
      'subscriptions off',
      ['GET', '/.well-known/mercure/subscriptions'],
      {},
      /404 \(subscriptions are off\)/,
    ],
    [
      'subscriptions without a token',
      ['GET', '/.well-known/mercure/subscriptions'],
      { MERCURE_SUBSCRIPTIONS: '1', MERCURE_ANONYMOUS: '1' },
      /401 no error code/,
    ],
    [
      'subscriptions not granted',
      ['GET', '/.well-known/mercure/subscriptions', '--token', accessToken({ claims })],
      { MERCURE_SUBSCRIPTIONS: '1' },
      /403 insufficient_scope/,
    ],
    [
      'a reserved topic',
      ['POST', '/.well-known/mercure', '--topic', 'mercure', '--token', publisherToken({ claims })],
      {},
      /400 \(topic_reserved\)/,
    ],
    [
      'no publisher key',
      ['POST', '/.well-known/mercure'],
      { MERCURE_PUBLISHER_JWT_KEY: '' },
      /405 \(no issuer verifies publisher tokens\)/,
    ],
    [
      'the derived audience',
      [
        'GET',
        '/.well-known/mercure?match=a',
        '--origin',
        'https://other.example',
        '--token',
        accessToken({ claims }),
      ],
      { MERCURE_RESOURCE_IDENTIFIER: '' },
      /wanted "https:\/\/other\.example\/\.well-known\/mercure"/,
    ],
    [
      'the derived audience that fits',
      [
        'GET',
        '/.well-known/mercure?match=a',
        '--origin',
        new URL(HUB).origin,
        '--token',
        accessToken({ claims }),
      ],
      { MERCURE_RESOURCE_IDENTIFIER: '' },
      /allowed\n$/,
    ],
  ])('%s', async (_, args, env, outcome) => {
    const { stdout, code } = await explain(args, env)
    expect(stdout).toMatch(outcome)
    expect(code).toBe(/allowed\n$/.test(stdout) ? 0 : 1)
  })
})

describe('hivegate explain where the hub takes path-prefix tokens', () => {
  const key = ecKey('explain')
  const env = {
    MERCURE_ISSUER: '',
    MERCURE_PUBLISHER_JWT_KEY: '',
    MERCURE_SUBSCRIBER_JWT_KEY: '',
    PUBSUB_HUB: 'true',
    PUBSUB_JWT_PRIVATE_JWK: JSON.stringify(key.privateJwk({ alg: 'ES256' })),
  }
  const pathToken = (kid = 'explain') =>
    compactToken({
      header: { alg: 'ES256', typ: 'JWT', kid },
      payload: { root: '', put: ['hey'], get: [], ...times },
      alg: 'ES256',
      key: key.privateKey,
    })
  const publish = (token: string, topic: string) =>
    explain(['POST', '/.well-known/mercure', '--token', token, '--topic', topic], env)

  it('the hub is on without an issuer of its own, and the prefixes decide', async () => {
    const allowed = await publish(pathToken(), 'hey/A')
    expect(allowed.stdout).toContain('path-prefix tokens are accepted; the key explain only')
    expect([allowed.stdout.split('\n').at(-2), allowed.code]).toEqual(['allowed', 0])
    expect((await publish(pathToken(), 'heyday')).stdout).toMatch(/403 insufficient_scope/)
  })

  it('a key that is not known here is refused, and the note says why that may be', async () => {
    const { stdout, code } = await publish(pathToken('other'), 'hey')
    expect(stdout).toContain("not the broker's register")
    expect(stdout).toMatch(/401 invalid_token/)
    expect(code).toBe(1)
  })
})
