import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { loadConfig } from '../../src/config/index.ts'
import { openSessions, type Sessions } from '../../src/issuer/session.ts'
import { NO_LOG } from '../../src/keys/index.ts'
import { fakeClock, START_S } from '../support/clock.ts'
import { type JwksServer, startJwksServer } from '../support/jwks-server.ts'
import { ecKey, edKey, HS_SECRET, rsaKey } from '../support/keys.ts'
import { type MintOptions, mint } from '../support/tokens.ts'

const clock = fakeClock()
let server: JwksServer
beforeAll(async () => {
  server = await startJwksServer([
    rsaKey('s-rsa').jwk({ alg: 'RS256' }),
    ecKey('s-ec').jwk({ alg: 'ES256' }),
    edKey('s-ed').jwk({ alg: 'EdDSA' }),
  ])
})
afterAll(() => server.stop())

/** What a verifier under these settings says about a token: the user, or undefined. */
async function userOf(
  env: Record<string, string>,
  options: MintOptions,
): Promise<string | undefined> {
  const sessions: Sessions = openSessions(loadConfig(env).pubsub, { clock, log: NO_LOG })
  try {
    return await sessions.verify(mint({ ...options, claims: { sub: 'ada', ...options.claims } }))
  } finally {
    sessions.close()
  }
}

const asymmetric = [
  { alg: 'RS256', key: rsaKey('s-rsa').privateKey, header: { kid: 's-rsa' } },
  { alg: 'ES256', key: ecKey('s-ec').privateKey, header: { kid: 's-ec' } },
  { alg: 'EdDSA', key: edKey('s-ed').privateKey, header: { kid: 's-ed' } },
] as const

describe('sessions by key set', () => {
  const env = () => ({ PUBSUB_SESSION_JWKS_URL: server.url })

  it.each(asymmetric)('a session signed with $alg is accepted', async (options) => {
    expect(await userOf(env(), options)).toBe('ada')
  })

  it('a symmetric session is refused, also with the public key as its secret', async () => {
    expect(await userOf(env(), { alg: 'HS256', key: HS_SECRET })).toBeUndefined()
    const forged = { alg: 'HS256', key: rsaKey('s-rsa').publicPem, header: { kid: 's-rsa' } }
    expect(await userOf(env(), forged)).toBeUndefined()
  })

  it('a key of another kid is refused', async () => {
    const stranger = { alg: 'RS256', key: rsaKey('stranger').privateKey, header: { kid: 's-rsa' } }
    expect(await userOf(env(), stranger)).toBeUndefined()
  })
})

describe('sessions by secret', () => {
  it('an asymmetric session is refused', async () => {
    const env = { PUBSUB_SESSION_JWT_SECRET: HS_SECRET }
    expect(await userOf(env, { alg: 'HS512', key: HS_SECRET })).toBe('ada')
    expect(await userOf(env, asymmetric[0])).toBeUndefined()
  })
})

describe('sessions with secret and key set', () => {
  it('both kinds are accepted, each with its own material', async () => {
    const env = { PUBSUB_SESSION_JWT_SECRET: HS_SECRET, PUBSUB_SESSION_JWKS_URL: server.url }
    expect(await userOf(env, { alg: 'HS256', key: HS_SECRET })).toBe('ada')
    expect(await userOf(env, asymmetric[1])).toBe('ada')
  })
})

describe('sessions without key material', () => {
  it.each(['HS256', 'RS256', 'none'])('no %s session is accepted', async (alg) => {
    expect(await userOf({}, { alg, ...(alg === 'HS256' && { key: '' }) })).toBeUndefined()
  })
})

describe('claims of a session', () => {
  const env = {
    PUBSUB_SESSION_JWT_SECRET: HS_SECRET,
    PUBSUB_SESSION_ISSUER: 'https://login.example/',
    PUBSUB_SESSION_AUDIENCE: 'authenticated',
  }
  const good = { iss: 'https://login.example/', aud: 'authenticated' }

  it.each<[string, Record<string, unknown>, boolean]>([
    ['the right issuer and audience', {}, true],
    ['the audience in a list', { aud: ['x', 'authenticated'] }, true],
    ['another issuer', { iss: 'https://login.example' }, false],
    ['no issuer', { iss: undefined }, false],
    ['another audience', { aud: 'anon' }, false],
    ['no audience', { aud: undefined }, false],
    ['an audience that is no text', { aud: 5 }, false],
    ['an exp 20 s ago, within the tolerance', { exp: START_S - 20 }, true],
    ['an exp 40 s ago', { exp: START_S - 40 }, false],
    ['an iat a minute ahead', { iat: START_S + 60 }, false],
    ['an exp as text', { exp: `${START_S + 60}` }, false],
    ['no sub', { sub: undefined }, false],
    ['a sub that is no text', { sub: ['ada'] }, false],
  ])('%s: %j', async (_what, claims, accepted) => {
    const user = await userOf(env, { claims: { ...good, ...claims } })
    expect(user).toBe(accepted ? 'ada' : undefined)
  })
})
