import { describe, expect, it } from 'vitest'
import { PUBLISHER_KEY, SHOP, SUBSCRIBER_KEY } from '../support/hub/config.ts'
import { form, publish, type RunningHub, startHub } from '../support/hub/hub.ts'
import { subscribe } from '../support/hub/stream.ts'
import {
  accessToken,
  bearer,
  detail,
  publisherToken,
  subscriberToken,
} from '../support/hub/tokens.ts'
import { rawRequest } from '../support/raw-request.ts'
import { compactToken } from '../support/tokens.ts'

const HUB = '/.well-known/mercure'
const COOKIE = '__Secure-mercure_access_token'
const GARBAGE = 'x'.repeat(60)

/** Status, challenge and body of a subscribe request with these header lines. */
async function head(hub: RunningHub, headers: readonly string[], query = 'match=a') {
  const raw = await rawRequest(hub.port, { method: 'HEAD', target: `${HUB}?${query}`, headers })
  const challenge = raw.header('www-authenticate')
  return { status: raw.status, error: /error="([a-z_]+)"/.exec(challenge ?? '')?.[1], challenge }
}

describe('row 8: every defect of a token', () => {
  const good = { key: SUBSCRIBER_KEY }
  const defects: readonly (readonly [string, string])[] = [
    ['expired', subscriberToken(['*'], { exp: 1_700_000_000 })],
    ['without exp', subscriberToken(['*'], { exp: undefined })],
    ['exp as text', subscriberToken(['*'], { exp: '4102444800' })],
    ['not yet valid', subscriberToken(['*'], { nbf: 4_102_444_800 })],
    ['without iss', subscriberToken(['*'], { iss: undefined })],
    ['foreign iss', subscriberToken(['*'], { iss: 'https://other.example' })],
    ['without aud', subscriberToken(['*'], { aud: undefined })],
    ['foreign aud', subscriberToken(['*'], { aud: 'https://other.example/.well-known/mercure' })],
    ['signed with the key of the other role', accessToken([], { key: PUBLISHER_KEY })],
    [
      'signed with a stranger’s key',
      accessToken([], { key: 'another-fixture-0123456789abcdefgh' }),
    ],
    ['a bad detail', accessToken([detail('subscribe', ['a'], { topics: 'a' })], good)],
    ['details that are no array', subscriberToken(['*'], { authorization_details: {} })],
    ['101 details', accessToken(new Array(101).fill(detail('subscribe', ['a'])), good)],
    [
      'alg none',
      compactToken({
        header: { alg: 'none', typ: 'at+jwt' },
        payload: { iss: SHOP.issuer },
        alg: 'none',
        key: '',
      }),
    ],
    ['no token at all', GARBAGE],
  ]

  it('H22: gets the same answer', async () => {
    const hub = await startHub({ settings: { anonymous: true } })
    for (const [name, token] of defects) {
      const response = await fetch(`${hub.url}?match=a`, { headers: bearer(token) })
      const seen = [
        response.status,
        response.headers.get('www-authenticate'),
        await response.text(),
      ]
      expect(seen, name).toEqual([
        401,
        'Bearer error="invalid_token", resource_metadata="https://hub.shop.example/.well-known/oauth-protected-resource/.well-known/mercure"',
        'Unauthorized',
      ])
    }
  })

  it('row 19: a bad subscribe detail makes a publish request fail', async () => {
    const details = [detail('publish', ['*']), detail('subscribe', ['a'], { topics: [] })]
    const token = accessToken(details, { key: PUBLISHER_KEY })
    expect((await publish(await startHub(), { topic: 'a' }, token)).status).toBe(401)
  })
})

describe('row 20: the Authorization header', () => {
  const token = subscriberToken()
  it.each([
    ['H14: repeated', [`Authorization: Bearer ${token}`, `Authorization: Bearer ${token}`]],
    ['H16: of another scheme', ['Authorization: Basic dXNlcjpwYXNzd29yZA==']],
    ['H16: without a token', ['Authorization: Bearer']],
    ['H16: with a blank token', ['Authorization: Bearer ']],
    ['H16: with a short token', [`Authorization: Bearer ${'x'.repeat(40)}`]],
    ['A34: with a bare token', [`Authorization: ${token}`]],
    ['A34: of a script that had none', ['Authorization: Bearer undefined']],
    ['empty', ['Authorization:']],
  ])('%s is 400 invalid_request', async (_name, headers) => {
    const hub = await startHub({ settings: { anonymous: true } })
    expect(await head(hub, headers)).toMatchObject({ status: 400, error: 'invalid_request' })
  })

  it.each(['Bearer', 'bearer', 'BEARER'])('%s works', async (scheme) => {
    expect((await head(await startHub(), [`Authorization: ${scheme} ${token}`])).status).toBe(200)
  })
})

describe('row 21: header and cookie together', () => {
  it('H15: the header decides alone', async () => {
    const hub = await startHub()
    const [header, cookie] = ['Authorization: Bearer ', `Cookie: ${COOKIE}=`]
    const token = subscriberToken()
    expect((await head(hub, [header + token, cookie + GARBAGE])).status).toBe(200)
    expect((await head(hub, [header + GARBAGE, cookie + token])).status).toBe(401)
    expect((await head(hub, ['Authorization: Basic x', cookie + token])).status).toBe(400)
    expect((await head(hub, [header + token, 'Cookie: _ga=1'])).status).toBe(200)
  })
})

describe('row 22: the cookie', () => {
  it('has one name; garbage in it is 401', async () => {
    const hub = await startHub()
    const status = async (cookie: string) => (await head(hub, [`Cookie: ${cookie}`])).status
    expect(await status(`${COOKIE}=${subscriberToken()}`)).toBe(200)
    expect(await status(`a=b; ${COOKIE}=${subscriberToken()}; c=d`)).toBe(200)
    const other = await head(hub, [`Cookie: mercureAuthorization=${subscriberToken()}`])
    expect(other).toMatchObject({ status: 401, error: undefined })
    for (const garbage of ['x', '%E0%A4%A', GARBAGE]) {
      const refused = await head(hub, [`Cookie: ${COOKIE}=${garbage}`])
      expect(refused).toMatchObject({ status: 401, error: 'invalid_token' })
    }
  })

  it('may have another name', async () => {
    const hub = await startHub({ settings: { cookieName: 'other' } })
    expect((await head(hub, [`Cookie: other=${subscriberToken()}`])).status).toBe(200)
    expect((await head(hub, [`Cookie: ${COOKIE}=${subscriberToken()}`])).status).toBe(401)
  })
})

describe('row 23: publishing with the cookie', () => {
  const post = async (
    publishOrigins: readonly string[],
    headers: Record<string, string>,
    token = publisherToken(),
  ) => {
    const hub = await startHub({ settings: { publishOrigins } })
    const response = await fetch(hub.url, {
      method: 'POST',
      headers: { Cookie: `${COOKIE}=${token}`, ...headers },
      body: form({ topic: 'a' }),
    })
    const error = /error="([a-z_]+)"/.exec(response.headers.get('www-authenticate') ?? '')?.[1]
    return { status: response.status, error }
  }
  const refused = { status: 400, error: 'invalid_request' }

  it('H18: without an origin, or from one that is not listed, is 400 and the token is not looked at', async () => {
    const listed = ['https://app.example']
    expect(await post(listed, {})).toEqual(refused)
    expect(await post(listed, {}, GARBAGE)).toEqual(refused)
    expect(await post(listed, { Origin: 'https://other.example' }, GARBAGE)).toEqual(refused)
    expect(await post([], { Origin: 'https://app.example' })).toEqual(refused)
    expect(await post(listed, { Referer: 'nonsense' })).toEqual(refused)
    expect(await post(listed, { Referer: 'https://other.example/https://app.example' })).toEqual(
      refused,
    )
  })

  it('from a listed Origin or Referer is 200', async () => {
    const listed = ['https://app.example', 'https://*.shop.example']
    expect((await post(listed, { Origin: 'https://app.example' })).status).toBe(200)
    expect((await post(listed, { Origin: 'https://x.shop.example' })).status).toBe(200)
    expect((await post(listed, { Referer: 'https://app.example/some/page?x' })).status).toBe(200)
    expect((await post(listed, { Origin: 'https://app.example' }, GARBAGE)).status).toBe(401)
  })

  it('with * needs one of the two headers still', async () => {
    expect(await post(['*'], {})).toEqual(refused)
    expect((await post(['*'], { Origin: 'https://anywhere.example' })).status).toBe(200)
  })

  it('is not needed with the header', async () => {
    expect((await publish(await startHub(), { topic: 'a' })).status).toBe(200)
  })
})

describe('row 24: a token in the URL or the body', () => {
  it('H17: is ignored: bare 401, or anonymous where that is allowed', async () => {
    const token = subscriberToken()
    for (const name of ['access_token', 'authorization', 'jwt', 'token']) {
      const refused = await head(await startHub(), [], `match=a&${name}=${token}`)
      expect(refused).toMatchObject({ status: 401, error: undefined })
    }
    const hub = await startHub({ settings: { anonymous: true } })
    const stream = await subscribe(hub, `match=a&access_token=${token}`)
    await publish(hub, { topic: 'a', id: 'private', private: 'on' })
    await publish(hub, { topic: 'a', id: 'public' })
    expect((await stream.next()).id).toBe('public')
  })

  it('H17: of a publish request is ignored too', async () => {
    const hub = await startHub()
    const body = form({ topic: 'a', access_token: publisherToken() })
    const url = `${hub.url}?access_token=${publisherToken()}`
    const response = await fetch(url, { method: 'POST', body })
    expect(response.status).toBe(401)
    expect(response.headers.get('www-authenticate')).not.toContain('error=')
  })
})

describe('row 50: anonymous mode', () => {
  it('off: no token is the bare 401', async () => {
    expect(await head(await startHub(), [])).toMatchObject({ status: 401, error: undefined })
  })

  it('on: no token opens the stream, a bad one is 401', async () => {
    const hub = await startHub({ settings: { anonymous: true } })
    expect((await head(hub, [])).status).toBe(200)
    expect((await head(hub, [`Authorization: Bearer ${GARBAGE}`])).status).toBe(401)
  })

  it('on, without a subscriber verifier: tokens on GET are not looked at, the subscription API is open', async () => {
    const issuers = [{ ...SHOP, subscriber: undefined }]
    const hub = await startHub({ settings: { anonymous: true, subscriptions: true, issuers } })
    expect((await head(hub, ['Authorization: Basic nonsense'])).status).toBe(200)
    expect((await fetch(`${hub.url}/subscriptions`)).status).toBe(200)
  })

  it('never concerns publishing', async () => {
    const hub = await startHub({ settings: { anonymous: true } })
    const response = await fetch(hub.url, { method: 'POST', body: form({ topic: 'a' }) })
    expect(response.status).toBe(401)
  })
})
