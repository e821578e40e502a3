import { describe, expect, it } from 'vitest'
import { challengeOf, HubAuthError } from '../../src/hub/index.ts'
import { START_S } from '../support/clock.ts'
import { ecKey, edKey, rsaKey } from '../support/keys.ts'
import { compactToken, segment, withBrokenSignature } from '../support/tokens.ts'
import {
  accessToken,
  authenticatorOf,
  bearing,
  DETAIL_TYPE,
  detail,
  HUB,
  ISSUER,
  PUBLISHER_KEY,
  publisherToken,
  requestWith,
  SUBSCRIBER_KEY,
} from './hub-tokens.ts'

const PADDING = 'x'.repeat(60)

function part(token: string, index: number): string {
  return token.split('.')[index] ?? ''
}

/** Tokens with one defect each; H22 wants one answer for all of them. */
const DEFECTS: readonly (readonly [rule: string, token: string])[] = [
  ['shape: two parts', `${PADDING}.${PADDING}`],
  ['shape: four parts', `${accessToken()}.x`],
  ['shape: five parts', 'a'.repeat(20).concat('.b.c.d.', 'e'.repeat(30))],
  [
    'shape: no JSON in the header',
    compactToken({ header: `{${PADDING}`, payload: {}, alg: 'HS256', key: SUBSCRIBER_KEY }),
  ],
  [
    'shape: no JSON in the payload',
    compactToken({
      header: { alg: 'HS256', typ: 'at+jwt' },
      payload: '{',
      alg: 'HS256',
      key: SUBSCRIBER_KEY,
    }),
  ],
  [
    'shape: payload not UTF-8',
    compactToken({
      header: { alg: 'HS256', typ: 'at+jwt' },
      payload: Buffer.from([0x7b, 0xff, 0x7d]),
      alg: 'HS256',
      key: SUBSCRIBER_KEY,
    }),
  ],
  [
    'shape: payload an array',
    compactToken({
      header: { alg: 'HS256', typ: 'at+jwt' },
      payload: [PADDING],
      alg: 'HS256',
      key: SUBSCRIBER_KEY,
    }),
  ],
  [
    'shape: payload null',
    compactToken({
      header: { alg: 'HS256', typ: 'at+jwt', pad: PADDING },
      payload: 'null',
      alg: 'HS256',
      key: SUBSCRIBER_KEY,
    }),
  ],
  ['shape: not base64url', `${accessToken().slice(0, -3)}+/=`],
  ['iss missing', accessToken({ claims: { iss: undefined } })],
  ['iss unknown', accessToken({ claims: { iss: 'https://evil.example' } })],
  ['iss with a slash more', accessToken({ claims: { iss: `${ISSUER}/` } })],
  ['iss not a string', accessToken({ claims: { iss: [ISSUER] } })],
  ['iss named like an inherited member', accessToken({ claims: { iss: 'constructor' } })],
  ['alg none, unsigned', accessToken({ alg: 'none', key: '' })],
  ['alg none, signed', accessToken({ header: { alg: 'none' } })],
  ['alg HS384 where HS256 is configured', accessToken({ alg: 'HS384' })],
  [
    'alg RS256 where a secret is configured',
    accessToken({ alg: 'RS256', key: rsaKey().privateKey }),
  ],
  ['alg missing', accessToken({ header: { alg: undefined } })],
  ['alg in another case', accessToken({ header: { alg: 'hs256' } })],
  ['signature of another key', accessToken({ key: 'another-fixture-0123456789abcdefg' })],
  ['signature of the other role’s key (H20)', publisherToken()],
  ['signature broken', withBrokenSignature(accessToken())],
  ['signature empty', `${accessToken().split('.').slice(0, 2).join('.')}.`],
  [
    'signature over other claims',
    `${part(accessToken(), 0)}.${segment({ iss: ISSUER, aud: HUB, exp: START_S + 60 })}.${part(accessToken(), 2)}`,
  ],
  ['typ missing', accessToken({ header: { typ: undefined } })],
  ['typ JWT (H21)', accessToken({ header: { typ: 'JWT' } })],
  ['typ id+jwt (H21)', accessToken({ header: { typ: 'id+jwt' } })],
  ['typ with blanks', accessToken({ header: { typ: ' at+jwt' } })],
  ['typ not a string', accessToken({ header: { typ: ['at+jwt'] } })],
  ['aud missing', accessToken({ claims: { aud: undefined } })],
  ['aud another', accessToken({ claims: { aud: 'https://other.example/.well-known/mercure' } })],
  ['aud with a slash more', accessToken({ claims: { aud: `${HUB}/` } })],
  ['aud in other case', accessToken({ claims: { aud: HUB.toUpperCase() } })],
  [
    'aud with the default port',
    accessToken({ claims: { aud: HUB.replace('example/', 'example:443/') } }),
  ],
  ['aud an array without it', accessToken({ claims: { aud: ['a', 'b'] } })],
  ['aud an empty array', accessToken({ claims: { aud: [] } })],
  ['aud an object', accessToken({ claims: { aud: { [HUB]: true } } })],
  ['exp missing', accessToken({ claims: { exp: undefined } })],
  ['exp null', accessToken({ claims: { exp: null } })],
  ['exp a string', accessToken({ claims: { exp: String(START_S + 60) } })],
  ['exp now', accessToken({ claims: { exp: START_S } })],
  ['exp 3 s ago: no tolerance (A45)', accessToken({ claims: { exp: START_S - 3 } })],
  ['nbf 3 s ahead: no tolerance (A45)', accessToken({ claims: { nbf: START_S + 3 } })],
  ['nbf a fraction ahead', accessToken({ claims: { nbf: START_S + 0.5 } })],
  ['nbf a string', accessToken({ claims: { nbf: '0' } })],
  ['nbf null', accessToken({ claims: { nbf: null } })],
  ['crit with an unknown extension (A56)', accessToken({ header: { crit: ['x'], x: 1 } })],
  ['crit empty (A56)', accessToken({ header: { crit: [] } })],
  ['crit a string (A56)', accessToken({ header: { crit: 'x' } })],
  ['b64 false (A56)', accessToken({ header: { b64: false } })],
  [
    'details: a bad one',
    accessToken({ claims: { authorization_details: [detail(['publish'], [])] } }),
  ],
  ['details: not an array', accessToken({ claims: { authorization_details: {} } })],
  [
    'an old-style token',
    accessToken({
      header: { typ: 'JWT' },
      claims: { aud: undefined, authorization_details: undefined, mercure: { subscribe: ['*'] } },
    }),
  ],
  [
    'key material in the token is not used (H19)',
    accessToken({
      alg: 'EdDSA',
      key: edKey('own').privateKey,
      header: { jwk: edKey('own').jwk() },
    }),
  ],
]

describe('access tokens: every check of section 6.1 (checklist 8, H19, H22)', () => {
  it.each(DEFECTS)('%s is 401 invalid_token', async (_, token) => {
    const hub = authenticatorOf()
    const error = await hub.authenticate(bearing(token), 'subscriber').then(
      () => undefined,
      (reason: unknown) => reason,
    )
    expect(error).toBeInstanceOf(HubAuthError)
    expect(error).toMatchObject({ code: 'token_invalid', status: 401, error: 'invalid_token' })
    if (error instanceof HubAuthError) {
      expect(challengeOf(error)).toBe('Bearer error="invalid_token"')
      // The reason is for the log: neither token nor key may be in it.
      expect(error.message).not.toContain(token)
      expect(error.message).not.toContain(SUBSCRIBER_KEY)
    }
  })

  it('a bad detail of the other role voids the token, too', async () => {
    const claims = {
      authorization_details: [detail(['publish'], [{ match: '*' }]), detail(['subscribe'], 'x')],
    }
    const request = bearing(publisherToken({ claims }), { method: 'POST' })
    await expect(authenticatorOf().authenticate(request, 'publisher')).rejects.toMatchObject({
      status: 401,
    })
  })
})

describe('access tokens: accepted (checklist 9, checklist 10, checklist 11)', () => {
  it.each([
    ['a good token', {}],
    ['typ AT+JWT', { header: { typ: 'AT+JWT' } }],
    ['typ application/at+jwt', { header: { typ: 'application/at+jwt' } }],
    ['typ Application/At+Jwt', { header: { typ: 'Application/At+Jwt' } }],
    ['aud an array that contains it', { claims: { aud: ['https://other.example', HUB] } }],
    [
      'without sub, client_id, iat and jti',
      { claims: { sub: undefined, client_id: undefined, iat: undefined, jti: undefined } },
    ],
    ['iat in the future', { claims: { iat: START_S + 9999 } }],
    ['iat, sub and jti of odd types', { claims: { iat: 'x', sub: 5, jti: [] } }],
    ['nbf now', { claims: { nbf: START_S } }],
    ['a kid that a static key does not have', { header: { kid: 'nobody' } }],
    [
      'key material beside a good signature',
      { header: { jwk: {}, jku: 'https://evil.example', x5c: ['x'], x5u: 'x' } },
    ],
    ['exp with a fraction (A32)', { claims: { exp: START_S + 0.25 } }],
  ])('%s', async (_, parts) => {
    const identity = await authenticatorOf().authenticate(bearing(accessToken(parts)), 'subscriber')
    expect(identity).toMatchObject({ anonymous: false, claims: { iss: ISSUER } })
    expect(identity.grants.allows('subscribe', 'anything')).toBe(true)
  })

  it.each([
    ['missing', undefined],
    ['null', null],
    ['[]', []],
    ['only foreign details', [{ type: `${DETAIL_TYPE}/`, topics: 5 }]],
  ])(
    'authorization_details %s: valid and granting nothing (A23)',
    async (_, authorization_details) => {
      const request = bearing(publisherToken({ claims: { authorization_details } }))
      const identity = await authenticatorOf().authenticate(request, 'publisher')
      expect(identity.grants.allows('publish', 'a')).toBe(false)
      expect(identity.grants.allows('subscribe', 'a')).toBe(false)
    },
  )

  it('exp is handed on in milliseconds', async () => {
    const request = bearing(accessToken({ claims: { exp: START_S + 7.5 } }))
    const identity = await authenticatorOf().authenticate(request, 'subscriber')
    expect(identity).toMatchObject({ expiresAtMs: (START_S + 7.5) * 1000 })
  })
})

describe('access tokens: the clock and the audience are asked on every request', () => {
  it('nbf in 2 s: 401 now, accepted after 3 s; expired at exp to the millisecond (checklist 12)', async () => {
    const hub = authenticatorOf()
    const request = bearing(accessToken({ claims: { nbf: START_S + 2, exp: START_S + 10 } }))
    await expect(hub.authenticate(request, 'subscriber')).rejects.toMatchObject({ status: 401 })
    hub.clock.advance(3000)
    await expect(hub.authenticate(request, 'subscriber')).resolves.toMatchObject({
      anonymous: false,
    })
    hub.clock.advance(6999)
    await expect(hub.authenticate(request, 'subscriber')).resolves.toMatchObject({
      anonymous: false,
    })
    hub.clock.advance(1)
    await expect(hub.authenticate(request, 'subscriber')).rejects.toMatchObject({ status: 401 })
    hub.clock.set(START_S * 1000)
    await expect(hub.authenticate(request, 'subscriber')).rejects.toMatchObject({ status: 401 })
  })

  it('a token for one name of the hub is refused under another, remembered or not (checklist 3)', async () => {
    const hub = authenticatorOf()
    const token = accessToken()
    const other = 'https://other.example/.well-known/mercure'
    await hub.authenticate(bearing(token), 'subscriber')
    const request = bearing(token, { resourceIdentifier: other })
    await expect(hub.authenticate(request, 'subscriber')).rejects.toMatchObject({ status: 401 })
    await expect(hub.authenticate(bearing(token), 'subscriber')).resolves.toMatchObject({
      anonymous: false,
    })
  })

  it('a token remembered for one role is nothing for the other role', async () => {
    const hub = authenticatorOf()
    await hub.authenticate(bearing(accessToken()), 'subscriber')
    await expect(hub.authenticate(bearing(accessToken()), 'publisher')).rejects.toMatchObject({
      status: 401,
      error: 'invalid_token',
    })
  })

  it('one token serves both roles only where both share a key', async () => {
    const hub = authenticatorOf({ MERCURE_SUBSCRIBER_JWT_KEY: PUBLISHER_KEY })
    for (const role of ['publisher', 'subscriber'] as const) {
      const identity = await hub.authenticate(bearing(publisherToken()), role)
      expect(identity.anonymous).toBe(false)
    }
  })
})

describe('no token, and anonymous mode (section 14)', () => {
  it('none presented: the bare challenge', async () => {
    const missing = { code: 'token_missing', status: 401, error: undefined }
    const hub = authenticatorOf()
    await expect(hub.authenticate(requestWith(), 'subscriber')).rejects.toMatchObject(missing)
    await expect(hub.authenticate(requestWith(), 'publisher')).rejects.toMatchObject(missing)
  })

  it('anonymous subscribers hold no grant; publishing always needs a token', async () => {
    const hub = authenticatorOf({ MERCURE_ANONYMOUS: 'true' })
    const identity = await hub.authenticate(requestWith(), 'subscriber')
    expect(identity.anonymous).toBe(true)
    expect(identity.grants.allows('subscribe', 'a')).toBe(false)
    await expect(hub.authenticate(requestWith(), 'publisher')).rejects.toMatchObject({
      code: 'token_missing',
    })
  })

  it('a bad token is 401, never a fall to anonymous (A27)', async () => {
    const hub = authenticatorOf({ MERCURE_ANONYMOUS: 'true' })
    const request = bearing(withBrokenSignature(accessToken()))
    await expect(hub.authenticate(request, 'subscriber')).rejects.toMatchObject({ status: 401 })
  })

  it('without a subscriber verifier tokens of subscribers are not looked at', async () => {
    const hub = authenticatorOf({
      MERCURE_ANONYMOUS: 'true',
      MERCURE_SUBSCRIBER_JWT_KEY: undefined,
    })
    const request = requestWith({ authorization: 'garbage' }, { scheme: 'http' })
    await expect(hub.authenticate(request, 'subscriber')).resolves.toMatchObject({
      anonymous: true,
    })
  })

  it('without a verifier and without anonymous mode nobody gets in', async () => {
    const hub = authenticatorOf({ MERCURE_SUBSCRIBER_JWT_KEY: undefined })
    for (const token of [accessToken(), publisherToken()]) {
      await expect(hub.authenticate(bearing(token), 'subscriber')).rejects.toMatchObject({
        status: 401,
      })
    }
  })
})

describe('algorithms by PEM (section 6.2, checklist 13)', () => {
  const KEYS = {
    RS256: rsaKey(),
    RS512: rsaKey(),
    PS256: rsaKey(),
    PS384: rsaKey(),
    ES256: ecKey(),
    ES384: ecKey('ec-384', 'P-384'),
    ES512: ecKey('ec-521', 'P-521'),
    EdDSA: edKey(),
  } as const

  it.each(Object.entries(KEYS))('%s is accepted, and only it', async (alg, key) => {
    const hub = authenticatorOf({
      MERCURE_SUBSCRIBER_JWT_KEY: key.publicPem,
      MERCURE_SUBSCRIBER_JWT_ALG: alg,
    })
    const good = accessToken({ alg, key: key.privateKey })
    await expect(hub.authenticate(bearing(good), 'subscriber')).resolves.toMatchObject({
      anonymous: false,
    })
    const forged = [
      accessToken({ alg: 'HS256', key: key.publicPem }),
      accessToken({ alg: 'HS256', key: key.publicPem.trim() }),
      accessToken({ header: { alg }, key: key.publicPem }),
      accessToken({ alg: 'none', key: '' }),
      ...(alg === 'RS256' ? [accessToken({ alg: 'RS512', key: key.privateKey })] : []),
    ]
    for (const token of forged) {
      await expect(hub.authenticate(bearing(token), 'subscriber')).rejects.toMatchObject({
        status: 401,
      })
    }
  })

  it('an ES256 signature in DER form is 401 (A60)', async () => {
    const hub = authenticatorOf({
      MERCURE_SUBSCRIBER_JWT_KEY: ecKey().publicPem,
      MERCURE_SUBSCRIBER_JWT_ALG: 'ES256',
    })
    const token = accessToken({
      alg: 'ES256-DER',
      key: ecKey().privateKey,
      header: { alg: 'ES256' },
    })
    await expect(hub.authenticate(bearing(token), 'subscriber')).rejects.toMatchObject({
      status: 401,
    })
  })

  it.each(['HS384', 'HS512'])('%s with a raw secret', async (alg) => {
    const hub = authenticatorOf({ MERCURE_SUBSCRIBER_JWT_ALG: alg })
    await expect(
      hub.authenticate(bearing(accessToken({ alg })), 'subscriber'),
    ).resolves.toMatchObject({ anonymous: false })
    await expect(hub.authenticate(bearing(accessToken()), 'subscriber')).rejects.toMatchObject({
      status: 401,
    })
  })
})
