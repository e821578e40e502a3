import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterEach, describe, expect, it } from 'vitest'
import type { HubAuthenticator } from '../../src/hub/index.ts'
import { type JwksServer, startJwksServer, statusAnswer } from '../support/jwks-server.ts'
import { ecKey, edKey, HS_SECRET, rsaKey } from '../support/keys.ts'
import {
  accessToken,
  authenticatorOf,
  bearing,
  HUB,
  ISSUER,
  PUBLISHER_KEY,
  publisherToken,
  SUBSCRIBER_KEY,
} from './hub-tokens.ts'

const REFUSED = { status: 401, error: 'invalid_token' }
const IDP = 'https://idp.example'
const OTHER = 'https://other.example'

const open: (() => unknown)[] = []
afterEach(async () => {
  for (const close of open.splice(0)) await close()
})

async function keyServer(
  ...keys: Parameters<typeof startJwksServer>[0] & object
): Promise<JwksServer> {
  const server = await startJwksServer(keys)
  open.push(() => server.stop())
  return server
}

function hubWith(more: Readonly<Record<string, string | undefined>>) {
  const hub = authenticatorOf(more)
  open.push(() => hub.close())
  return hub
}

function jwksHub(url: string, more: Readonly<Record<string, string>> = {}) {
  return hubWith({
    MERCURE_SUBSCRIBER_JWT_KEY: undefined,
    MERCURE_SUBSCRIBER_JWKS_URI: url,
    ...more,
  })
}

async function outcome(
  hub: HubAuthenticator,
  token: string,
  role: 'publisher' | 'subscriber' = 'subscriber',
) {
  return await hub.authenticate(bearing(token), role).catch((error: unknown) => error)
}

function rsToken(kid: string | undefined, key = rsaKey(kid), iss = ISSUER): string {
  return accessToken({ alg: 'RS256', key: key.privateKey, header: { kid }, claims: { iss } })
}

function issuersFile(entries: unknown): string {
  const file = join(mkdtempSync(join(tmpdir(), 'hub-issuers-')), 'issuers.json')
  writeFileSync(file, JSON.stringify(entries))
  return file
}

describe('JWK sets, per issuer and role (section 6.3, checklist 15)', () => {
  it('a known kid is accepted; a new one after one refresh, on the same request', async () => {
    const server = await keyServer(rsaKey('a').jwk())
    const hub = jwksHub(server.url)
    expect(await outcome(hub, rsToken('a'))).toMatchObject({ anonymous: false })
    server.answer([rsaKey('b').jwk()])
    const before = server.fetches
    expect(await outcome(hub, rsToken('b'))).toMatchObject({ anonymous: false })
    expect(server.fetches).toBe(before + 1)
    // The remembered token was verified with a key that is gone.
    expect(await outcome(hub, rsToken('a'))).toMatchObject(REFUSED)
  })

  it('an unknown kid triggers at most one refresh in 5 s', async () => {
    const server = await keyServer(rsaKey('a').jwk())
    const hub = jwksHub(server.url)
    await outcome(hub, rsToken('a'))
    const before = server.fetches
    for (const kid of ['x', 'y', 'z'])
      expect(await outcome(hub, rsToken(kid, rsaKey('a')))).toMatchObject(REFUSED)
    expect(server.fetches).toBe(before + 1)
    hub.clock.advance(5000)
    await outcome(hub, rsToken('x', rsaKey('a')))
    expect(server.fetches).toBe(before + 2)
  })

  it('a kid chooses that key only', async () => {
    const server = await keyServer(rsaKey('a').jwk(), rsaKey('b').jwk())
    expect(await outcome(jwksHub(server.url), rsToken('a', rsaKey('b')))).toMatchObject(REFUSED)
  })

  it('without a kid each key of that set is tried (A51)', async () => {
    const server = await keyServer(edKey().jwk(), rsaKey('a').jwk(), rsaKey('b').jwk())
    const hub = jwksHub(server.url)
    expect(await outcome(hub, rsToken(undefined, rsaKey('b')))).toMatchObject({ anonymous: false })
    expect(await outcome(hub, rsToken(undefined, rsaKey('stranger')))).toMatchObject(REFUSED)
  })

  it('a JWK that states its own alg verifies that one only', async () => {
    const server = await keyServer(rsaKey('a').jwk({ alg: 'PS256' }))
    const hub = jwksHub(server.url)
    expect(await outcome(hub, rsToken('a'))).toMatchObject(REFUSED)
    const ps = accessToken({ alg: 'PS256', key: rsaKey('a').privateKey, header: { kid: 'a' } })
    expect(await outcome(hub, ps)).toMatchObject({ anonymous: false })
  })

  it.each([
    ['EdDSA', edKey()],
    ['ES256', ecKey()],
    ['ES384', ecKey('ec-384', 'P-384')],
    ['ES512', ecKey('ec-521', 'P-521')],
    ['RS256', rsaKey()],
    ['RS512', rsaKey()],
    ['PS256', rsaKey()],
  ])('%s is among the default algorithms', async (alg, key) => {
    const server = await keyServer(key.jwk())
    const token = accessToken({ alg, key: key.privateKey, header: { kid: key.kid } })
    expect(await outcome(jwksHub(server.url), token)).toMatchObject({ anonymous: false })
  })

  it('an HS256 token is refused there even if a key would fit, unless HS256 is listed', async () => {
    const oct = { kty: 'oct', kid: 'o', k: Buffer.from(HS_SECRET).toString('base64url') }
    const server = await keyServer(oct, rsaKey('a').jwk())
    const token = accessToken({ key: HS_SECRET, header: { kid: 'o' } })
    expect(await outcome(jwksHub(server.url), token)).toMatchObject(REFUSED)
    const listed = jwksHub(server.url, { MERCURE_SUBSCRIBER_JWKS_ALGS: 'HS256' })
    expect(await outcome(listed, token)).toMatchObject({ anonymous: false })
    // And then nothing else is.
    expect(await outcome(listed, rsToken('a'))).toMatchObject(REFUSED)
  })

  it('a server that is down at start does not stop the hub; its tokens fail until a fetch works (A37)', async () => {
    const server = await keyServer(rsaKey('a').jwk())
    await server.stop()
    const hub = jwksHub(server.url)
    expect(await outcome(hub, rsToken('a'))).toMatchObject(REFUSED)
    await server.start()
    hub.clock.advance(5000)
    expect(await outcome(hub, rsToken('a'))).toMatchObject({ anonymous: false })
  })

  it('the last good set is kept when a refresh fails', async () => {
    const server = await keyServer(rsaKey('a').jwk())
    const hub = jwksHub(server.url)
    await outcome(hub, rsToken('a'))
    server.answer(statusAnswer(503))
    expect(await outcome(hub, rsToken('unknown', rsaKey('a')))).toMatchObject(REFUSED)
    expect(
      await outcome(
        hub,
        accessToken({
          alg: 'RS256',
          key: rsaKey('a').privateKey,
          header: { kid: 'a' },
          claims: { jti: 'another' },
        }),
      ),
    ).toMatchObject({ anonymous: false })
  })

  it('a file URL is read once at start', async () => {
    const file = issuersFile({ keys: [rsaKey('a').jwk(), edKey('e').jwk()] })
    const hub = jwksHub(pathToFileURL(file).href)
    writeFileSync(file, 'gone')
    expect(await outcome(hub, rsToken('a'))).toMatchObject({ anonymous: false })
    expect(await outcome(hub, rsToken('b', rsaKey('a')))).toMatchObject(REFUSED)
  })
})

describe('key separation (section 17, checklist 16, H20, A26)', () => {
  it('two issuers, crossed signatures: 401, and B works while A is down', async () => {
    const a = await keyServer(rsaKey('shared-kid').jwk())
    const b = await keyServer(rsaKey('shared-kid', 3072).jwk())
    const hub = hubWith({
      MERCURE_ISSUER: undefined,
      MERCURE_PUBLISHER_JWT_KEY: undefined,
      MERCURE_SUBSCRIBER_JWT_KEY: undefined,
      MERCURE_ISSUERS_FILE: issuersFile([
        { issuer: IDP, subscriber: { jwks_uri: a.url } },
        { issuer: OTHER, subscriber: { jwks_uri: b.url } },
      ]),
    })
    const keyA = rsaKey('shared-kid')
    const keyB = rsaKey('shared-kid', 3072)
    expect(await outcome(hub, rsToken('shared-kid', keyA, IDP))).toMatchObject({ anonymous: false })
    expect(await outcome(hub, rsToken('shared-kid', keyA, OTHER))).toMatchObject(REFUSED)
    expect(await outcome(hub, rsToken('shared-kid', keyB, IDP))).toMatchObject(REFUSED)
    await a.stop()
    expect(await outcome(hub, rsToken('shared-kid', keyB, OTHER))).toMatchObject({
      anonymous: false,
    })
    expect(await outcome(hub, rsToken('shared-kid', keyB, ISSUER))).toMatchObject(REFUSED)
  })

  it('role keys crossed: 401, not 403', async () => {
    const hub = hubWith({})
    expect(await outcome(hub, accessToken(), 'publisher')).toMatchObject(REFUSED)
    expect(await outcome(hub, publisherToken(), 'subscriber')).toMatchObject(REFUSED)
  })

  it('an issuer without a verifier for the role: 401, even if the signature would fit another issuer’s', async () => {
    const hub = hubWith({
      MERCURE_ISSUERS_FILE: issuersFile([{ issuer: OTHER, publisher: { jwt_key: PUBLISHER_KEY } }]),
    })
    const subscriber = accessToken({ claims: { iss: OTHER }, key: SUBSCRIBER_KEY })
    expect(await outcome(hub, subscriber)).toMatchObject(REFUSED)
    const publisher = publisherToken({ claims: { iss: OTHER } })
    expect(await outcome(hub, publisher, 'publisher')).toMatchObject({ anonymous: false })
    // The issuer of the environment stands beside those of the file.
    expect(await outcome(hub, accessToken({ claims: { aud: [HUB] } }))).toMatchObject({
      anonymous: false,
    })
  })
})
