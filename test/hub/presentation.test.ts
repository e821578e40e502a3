import { describe, expect, it } from 'vitest'
import type { HubAuthenticator } from '../../src/hub/index.ts'
import { MAX_TOKEN_BYTES } from '../../src/tokens/index.ts'
import { withBrokenSignature } from '../support/tokens.ts'
import { accessToken, authenticatorOf, detail, publisherToken, requestWith } from './hub-tokens.ts'

const COOKIE = '__Secure-mercure_access_token'
const GOOD = accessToken()
const BAD = withBrokenSignature(GOOD)
const INVALID_REQUEST = { status: 400, error: 'invalid_request', code: 'token_badly_presented' }
const INVALID_TOKEN = { status: 401, error: 'invalid_token' }
const MISSING = { status: 401, error: undefined }

type Headers = Readonly<Record<string, string | readonly string[]>>

async function outcome(
  hub: HubAuthenticator,
  headers: Headers,
  more: Parameters<typeof requestWith>[1] = {},
): Promise<unknown> {
  const role = more.method === 'POST' ? 'publisher' : 'subscriber'
  return await hub.authenticate(requestWith(headers, more), role).catch((error: unknown) => error)
}

describe('Authorization header (section 8.1, checklist 20, H14, H16, A34)', () => {
  it.each([
    ['repeated', { authorization: [`Bearer ${GOOD}`, `Bearer ${GOOD}`] }],
    ['two tokens in one field', { authorization: `Bearer ${GOOD}, Bearer ${GOOD}` }],
    ['Basic', { authorization: `Basic ${GOOD}` }],
    ['Bearer alone', { authorization: 'Bearer' }],
    ['Bearer and a space', { authorization: 'Bearer ' }],
    ['blank', { authorization: '' }],
    ['bare token', { authorization: GOOD }],
    ['two spaces', { authorization: `Bearer  ${GOOD}` }],
    ['a tab', { authorization: `Bearer\t${GOOD}` }],
    ['Bearer undefined', { authorization: 'Bearer undefined' }],
    ['40 characters', { authorization: `Bearer ${'a'.repeat(40)}` }],
    ['longer than 32 KiB', { authorization: `Bearer ${'a'.repeat(MAX_TOKEN_BYTES + 1)}` }],
  ])('%s: 400 invalid_request', async (_, headers) => {
    expect(await outcome(authenticatorOf(), headers)).toMatchObject(INVALID_REQUEST)
  })

  it.each(['Bearer', 'bearer', 'BEARER', 'bEaReR'])('scheme %s is accepted', async (scheme) => {
    const headers = { authorization: `${scheme} ${GOOD}` }
    expect(await outcome(authenticatorOf(), headers)).toMatchObject({ anonymous: false })
  })

  it.each([7, 15, 17, 30])(
    'a token of some %i KB with 100 topics is accepted (A47)',
    async (size) => {
      const topics = Array.from({ length: 100 }, (_, index) => ({
        match: `${index}`.padEnd(size * 7 - 12, 'x'),
      }))
      const claims = { authorization_details: [detail(['subscribe'], topics)] }
      const token = accessToken({ claims })
      expect(Math.abs(token.length / 1024 - size)).toBeLessThan(2)
      const headers = { authorization: `Bearer ${token}` }
      expect(await outcome(authenticatorOf(), headers)).toMatchObject({ anonymous: false })
    },
  )

  it('41 characters of garbage are a token, and a bad one', async () => {
    const headers = { authorization: `Bearer ${'a'.repeat(41)}` }
    expect(await outcome(authenticatorOf(), headers)).toMatchObject(INVALID_TOKEN)
  })
})

describe('cookie (section 8.2, checklist 22)', () => {
  it.each([
    ['alone', { cookie: `${COOKIE}=${GOOD}` }],
    ['among others', { cookie: `a=b; ${COOKIE}=${GOOD}; _ga=1` }],
    ['in a second Cookie field', { cookie: ['a=b', `${COOKIE}=${GOOD}`] }],
  ])('%s is accepted', async (_, headers) => {
    expect(await outcome(authenticatorOf(), headers)).toMatchObject({ anonymous: false })
  })

  it.each(['garbage', '', '%E0%A4%A', 'a.b.c', BAD])('holding %s: 401', async (value) => {
    const headers = { cookie: `${COOKIE}=${value}` }
    expect(await outcome(authenticatorOf(), headers)).toMatchObject(INVALID_TOKEN)
  })

  it.each([
    `mercureAuthorization=${GOOD}`,
    `mercure_access_token=${GOOD}`,
    `${COOKIE.toLowerCase()}=${GOOD}`,
    `x${COOKIE}=${GOOD}`,
    '__proto__=x',
  ])('another name is ignored: %s', async (cookie) => {
    expect(await outcome(authenticatorOf(), { cookie })).toMatchObject(MISSING)
  })

  it('cookie_name changes the name, and the default one is then ignored', async () => {
    const hub = authenticatorOf({ MERCURE_COOKIE_NAME: 'hub_token' })
    expect(await outcome(hub, { cookie: `hub_token=${GOOD}` })).toMatchObject({ anonymous: false })
    expect(await outcome(hub, { cookie: `${COOKIE}=${GOOD}` })).toMatchObject(MISSING)
  })
})

describe('precedence (section 8.4, checklist 21, H15, A48)', () => {
  it.each([
    ['good header, bad cookie', GOOD, BAD, { anonymous: false }],
    ['bad header, good cookie', BAD, GOOD, INVALID_TOKEN],
    ['malformed header, good cookie', 'x', GOOD, INVALID_REQUEST],
  ])('%s', async (_, header, cookie, expected) => {
    const headers = { authorization: `Bearer ${header}`, cookie: `${COOKIE}=${cookie}` }
    expect(await outcome(authenticatorOf(), headers)).toMatchObject(expected)
  })

  it('an unrelated cookie does not disable the header', async () => {
    const headers = { authorization: `Bearer ${GOOD}`, cookie: '_ga=1' }
    expect(await outcome(authenticatorOf(), headers)).toMatchObject({ anonymous: false })
  })

  it('an empty header field counts as present', async () => {
    const headers = { authorization: '', cookie: `${COOKIE}=${GOOD}` }
    expect(await outcome(authenticatorOf(), headers)).toMatchObject(INVALID_REQUEST)
  })
})

describe('publishing with the cookie (section 8.2, checklist 23, H18)', () => {
  const good = { cookie: `${COOKIE}=${publisherToken()}` }
  const garbage = { cookie: `${COOKIE}=garbage` }
  const listed = {
    MERCURE_PUBLISH_ORIGINS: 'https://app.shop.example, https://*.shop.test, capacitor://localhost',
  }

  it.each<[string, Record<string, string | undefined>, Headers]>([
    ['no origin at all', listed, {}],
    ['foreign Origin', listed, { origin: 'https://evil.example' }],
    ['foreign Referer', listed, { referer: 'https://evil.example/https://app.shop.example' }],
    ['other scheme', listed, { origin: 'http://app.shop.example' }],
    ['other port', listed, { origin: 'https://app.shop.example:8443' }],
    ['listed origin as a suffix', listed, { origin: 'https://evil-app.shop.example' }],
    ['listed origin as a prefix', listed, { origin: 'https://app.shop.example.evil.example' }],
    ['star over a slash', listed, { origin: 'https://evil.example/.shop.test' }],
    ['star over a user part', listed, { origin: 'https://evil.example@a.shop.test' }],
    ['star for nothing', listed, { origin: 'https://.shop.test' }],
    ['null', listed, { origin: 'null' }],
    ['blank Origin', listed, { origin: '' }],
    ['Origin twice', listed, { origin: ['https://app.shop.example', 'https://app.shop.example'] }],
    ['unusable Referer', listed, { referer: 'not a url' }],
    ['Referer without a host', listed, { referer: 'about:blank' }],
    [
      'a listed Referer beside a foreign Origin',
      listed,
      { origin: 'https://evil.example', referer: 'https://app.shop.example/' },
    ],
    ['no publish_origins', {}, { origin: 'https://app.shop.example' }],
    ['* without either field', { MERCURE_PUBLISH_ORIGINS: '*' }, {}],
  ])('%s: 400 and the token is not looked at', async (_, environment, headers) => {
    const hub = authenticatorOf(environment)
    for (const cookie of [good, garbage]) {
      const result = await outcome(hub, { ...cookie, ...headers }, { method: 'POST' })
      expect(result).toMatchObject(INVALID_REQUEST)
    }
  })

  it.each<[string, Record<string, string | undefined>, Headers]>([
    ['listed Origin', listed, { origin: 'https://app.shop.example' }],
    ['listed Origin in other case', listed, { origin: 'HTTPS://App.Shop.Example' }],
    ['listed Referer', listed, { referer: 'https://app.shop.example/page?x=1#y' }],
    ['star', listed, { origin: 'https://a.b.shop.test' }],
    ['another scheme', listed, { origin: 'capacitor://localhost' }],
    ['*', { MERCURE_PUBLISH_ORIGINS: '*' }, { origin: 'https://any.example' }],
    ['* with Referer', { MERCURE_PUBLISH_ORIGINS: '*' }, { referer: 'https://any.example/x' }],
    ['null when listed', { MERCURE_PUBLISH_ORIGINS: 'null' }, { origin: 'null' }],
  ])('%s: accepted', async (_, environment, headers) => {
    const hub = authenticatorOf(environment)
    const result = await outcome(hub, { ...good, ...headers }, { method: 'POST' })
    expect(result).toMatchObject({ anonymous: false })
    const bad = await outcome(hub, { ...garbage, ...headers }, { method: 'POST' })
    expect(bad).toMatchObject(INVALID_TOKEN)
  })

  it('publishing with the header needs no origin', async () => {
    const headers = { authorization: `Bearer ${publisherToken()}`, origin: 'https://evil.example' }
    expect(await outcome(authenticatorOf(), headers, { method: 'POST' })).toMatchObject({
      anonymous: false,
    })
  })

  it.each(['GET', 'HEAD', 'QUERY'])('%s with the cookie needs no origin', async (method) => {
    const headers = { cookie: `${COOKIE}=${GOOD}`, origin: 'https://evil.example' }
    expect(await outcome(authenticatorOf(), headers, { method })).toMatchObject({
      anonymous: false,
    })
  })
})

describe('plain HTTP (section 2.3, checklist 6, H24)', () => {
  const http = { scheme: 'http' } as const

  it.each([
    ['a good header', { authorization: `Bearer ${GOOD}` }],
    ['a bad header', { authorization: `Bearer ${BAD}` }],
    ['a malformed header', { authorization: 'x' }],
    ['the cookie', { cookie: `${COOKIE}=${GOOD}` }],
  ])('%s: 400 invalid_request', async (_, headers) => {
    const hub = authenticatorOf({ MERCURE_ANONYMOUS: 'true' })
    expect(await outcome(hub, headers, http)).toMatchObject(INVALID_REQUEST)
  })

  it('a request without a credential is served as usual', async () => {
    const hub = authenticatorOf({ MERCURE_ANONYMOUS: 'true' })
    expect(await outcome(hub, { cookie: '_ga=1' }, http)).toMatchObject({ anonymous: true })
  })

  it('allow_insecure_http is the way around', async () => {
    const hub = authenticatorOf({ MERCURE_ALLOW_INSECURE_HTTP: 'true' })
    expect(await outcome(hub, { authorization: `Bearer ${GOOD}` }, http)).toMatchObject({
      anonymous: false,
    })
  })
})
