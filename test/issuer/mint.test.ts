import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { HS_SECRET } from '../support/keys.ts'
import { mint, withBrokenSignature } from '../support/tokens.ts'
import {
  ANON_KEY,
  type IssuerApp,
  invokeMint,
  objectOf,
  partsOf,
  SERVICE_KEY,
  session,
  startIssuer,
} from './issuer-app.ts'

let app: IssuerApp
beforeAll(async () => {
  app = await startIssuer()
})
afterAll(() => app.close())

const asUser = (user: string) => app.client(ANON_KEY, session(user))

describe('who gets what claims', () => {
  it('a platform superadmin gets all paths', async () => {
    await app.admin('PUT', '/users/root/superadmin')
    const { status, body } = await invokeMint(asUser('root'))
    expect(status).toBe(200)
    expect(body['claims']).toEqual({ root: '', put: [''], get: [''] })
  })

  it('a user gets put on herds with write and get on herds with read', async () => {
    await app.grant('mixed', 'north', 'read', 'write')
    await app.grant('mixed', 'south', 'read')
    await app.grant('mixed', 'west', 'write')
    const { body } = await invokeMint(asUser('mixed'))
    expect(body['claims']).toEqual({ root: '', put: ['north', 'west'], get: ['north', 'south'] })
  })

  it('a user with read only may subscribe only', async () => {
    await app.grant('reader', 'north', 'read')
    const { status, body } = await invokeMint(asUser('reader'))
    expect(status).toBe(200)
    expect(body['claims']).toEqual({ root: '', put: [], get: ['north'] })
  })

  it('a device gets its herd in both', async () => {
    const { api_key: key } = await app.device('north')
    const { status, body } = await invokeMint(app.client(key))
    expect(status).toBe(200)
    expect(body['claims']).toEqual({ root: '', put: ['north'], get: ['north'] })
  })

  it('a service gets put on the herds it names and nothing else', async () => {
    const herds = { herd_ids: ['north', 'relay/7'] }
    const { status, body } = await invokeMint(app.client(SERVICE_KEY), herds)
    expect(status).toBe(200)
    expect(body['claims']).toEqual({ root: '', put: ['north', 'relay/7'], get: [] })
  })

  it('a user with no stream ability gets 401', async () => {
    const { status, body } = await invokeMint(asUser('nobody-special'))
    expect([status, body]).toEqual([401, { error: 'No stream abilities' }])
  })

  it('nobody gets 401', async () => {
    expect((await invokeMint(app.client(ANON_KEY))).status).toBe(401)
    const bare = await fetch(`${app.url}/functions/v1/mint-pubsub-token`, { method: 'POST' })
    expect(bare.status).toBe(401)
    expect(bare.headers.get('www-authenticate')).toBe('Bearer')
    expect(await bare.json()).toEqual({ error: 'Authentication required' })
  })
})

describe('scope of a service call', () => {
  it.each<[string, Record<string, unknown> | undefined]>([
    ['no body', undefined],
    ['no herd_ids', {}],
    ['an empty list', { herd_ids: [] }],
    ['a string', { herd_ids: 'north' }],
    ['null', { herd_ids: null }],
    ['a number in the list', { herd_ids: [1] }],
    ['the whole tree', { herd_ids: [''] }],
    ['the whole tree as a slash', { herd_ids: ['/'] }],
    ['a leading slash', { herd_ids: ['/north'] }],
    ['a dot segment', { herd_ids: ['a/../b'] }],
    ['a percent escape', { herd_ids: ['a%2Fb'] }],
    ['a control character', { herd_ids: ['a\nb'] }],
    ['one bad among good ones', { herd_ids: ['north', ''] }],
    ['too many', { herd_ids: Array.from({ length: 501 }, (_, n) => `h${n}`) }],
    ['too long', { herd_ids: ['x'.repeat(256)] }],
  ])('with %s is 400', async (_what, body) => {
    const answer = await invokeMint(app.client(SERVICE_KEY), body)
    expect(answer.status).toBe(400)
    expect(answer.body).toEqual({ error: 'Invalid argument: herd_ids' })
  })

  it('a scope that makes a token over 32 KiB is 400', async () => {
    const ids = Array.from({ length: 300 }, (_, n) => `${n}-${'x'.repeat(200)}`)
    const answer = await invokeMint(app.client(SERVICE_KEY), { herd_ids: ids })
    expect([answer.status, answer.body]).toEqual([400, { error: 'Too many herds for one token' }])
  })

  it('a body that is no JSON object is 400', async () => {
    for (const body of ['[]', '"north"', '{', '7']) {
      const answer = await fetch(`${app.url}/functions/v1/mint-pubsub-token`, {
        method: 'POST',
        headers: { apikey: SERVICE_KEY },
        body,
      })
      expect(answer.status).toBe(400)
    }
  })

  it('herd_ids sent by anyone else is ignored', async () => {
    await app.grant('modest', 'east', 'read')
    const { api_key: key } = await app.device('east')
    const wide = { herd_ids: ['north', 'west'] }
    const [user, device] = await Promise.all([
      invokeMint(asUser('modest'), wide),
      invokeMint(app.client(key), wide),
    ])
    expect(user.body['claims']).toEqual({ root: '', put: [], get: ['east'] })
    expect(device.body['claims']).toEqual({ root: '', put: ['east'], get: ['east'] })
    expect((await invokeMint(asUser('nobody-special'), wide)).status).toBe(401)
  })
})

describe('answer of the mint', () => {
  it('has the token, its times in seconds, its kid and its claims, and is not stored', async () => {
    const { api_key: key } = await app.device('north')
    const before = Math.floor(Date.now() / 1000)
    const answer = await fetch(`${app.url}/functions/v1/mint-pubsub-token`, {
      method: 'POST',
      headers: { 'x-api-key': key },
    })
    const body = await objectOf(answer)
    const after = Math.floor(Date.now() / 1000)
    expect(answer.headers.get('cache-control')).toBe('no-store')
    expect(answer.headers.get('content-type')).toBe('application/json')
    expect(Object.keys(body)).toEqual(['token', 'expires_in', 'expires_at', 'kid', 'claims'])
    expect(body).toMatchObject({ expires_in: 3600, kid: 'mint-1' })
    expect(body['expires_at']).toBeGreaterThanOrEqual(before + 3600)
    expect(body['expires_at']).toBeLessThanOrEqual(after + 3600)
    const [header, payload] = partsOf(String(body['token']))
    expect(header).toEqual({ alg: 'ES256', typ: 'JWT', kid: 'mint-1' })
    const exp = Number(body['expires_at'])
    expect(payload).toEqual({ root: '', put: ['north'], get: ['north'], iat: exp - 3600, exp })
  })

  it('the lifetime is the one that is set', async () => {
    const short = await startIssuer({ env: { PUBSUB_TOKEN_TTL_SEC: '60' } })
    const { body } = await invokeMint(short.client(SERVICE_KEY), { herd_ids: ['a'] })
    expect(body['expires_in']).toBe(60)
    await short.close()
  })

  it('without a private JWK a known caller gets 503, anyone else 401', async () => {
    const keyless = await startIssuer({ env: { PUBSUB_JWT_PRIVATE_JWK: '' } })
    const known = await invokeMint(keyless.client(SERVICE_KEY), { herd_ids: ['a'] })
    expect([known.status, known.body]).toEqual([503, { error: 'Minting is not configured' }])
    expect((await invokeMint(keyless.client(ANON_KEY))).status).toBe(401)
    await keyless.close()
  })

  it('GET is not served', async () => {
    expect((await fetch(`${app.url}/functions/v1/mint-pubsub-token`)).status).toBe(404)
  })
})

describe('changes of principals', () => {
  it('take effect at the next mint', async () => {
    await app.grant('ada', 'lab', 'read', 'write')
    expect((await invokeMint(asUser('ada'))).status).toBe(200)
    await app.admin('DELETE', '/users/ada/herds/lab/realtime_streams.write')
    const less = await invokeMint(asUser('ada'))
    expect(less.body['claims']).toEqual({ root: '', put: [], get: ['lab'] })
    await app.admin('DELETE', '/herds/lab')
    expect((await invokeMint(asUser('ada'))).status).toBe(401)
    await app.admin('PUT', '/users/ada/superadmin')
    expect((await invokeMint(asUser('ada'))).status).toBe(200)
    await app.admin('DELETE', '/users/ada/superadmin')
    expect((await invokeMint(asUser('ada'))).status).toBe(401)
  })

  it('a rotated or deleted device is refused with its old key', async () => {
    const { id, api_key: first } = await app.device('farm')
    const rotated = await objectOf(await app.admin('POST', `/devices/${id}/rotate`))
    const second = String(rotated['api_key'])
    expect((await invokeMint(app.client(first))).status).toBe(401)
    expect((await invokeMint(app.client(second))).status).toBe(200)
    await app.admin('DELETE', `/devices/${id}`)
    expect((await invokeMint(app.client(second))).status).toBe(401)
  })

  it('a deleted herd takes its devices with it', async () => {
    const { api_key: key } = await app.device('barn')
    await app.admin('DELETE', '/herds/barn')
    expect((await invokeMint(app.client(key))).status).toBe(401)
    await app.admin('POST', '/herds', { id: 'barn' })
    expect((await invokeMint(app.client(key))).status).toBe(401)
  })
})

describe('session tokens', () => {
  const refused: readonly (readonly [string, string])[] = [
    ['an expired one', session('mixed', { exp: 1000 })],
    ['one that is not active yet', session('mixed', { nbf: 4_000_000_000 })],
    ['a malformed exp', session('mixed', { exp: '99999999999' })],
    ['a broken signature', withBrokenSignature(session('mixed'))],
    ['another secret', mint({ key: 'x'.repeat(32), claims: { sub: 'mixed' } })],
    ['alg none', mint({ alg: 'none', claims: { sub: 'mixed' } })],
    ['an asymmetric alg without key set', mint({ alg: 'RS256', claims: { sub: 'mixed' } })],
    ['no sub', session('mixed', { sub: undefined })],
    ['an empty sub', session('mixed', { sub: '' })],
    ['a sub that is no string', session('mixed', { sub: 7 })],
    ['garbage', 'a.b.c'],
  ]
  it.each(refused)('%s is 401', async (_what, token) => {
    const answer = await invokeMint(app.client(ANON_KEY, token))
    expect([answer.status, answer.body]).toEqual([401, { error: 'Invalid credential' }])
  })

  it('every HS algorithm of the secret is accepted', async () => {
    for (const alg of ['HS256', 'HS384', 'HS512']) {
      const token = mint({ alg, key: HS_SECRET, claims: { sub: 'mixed', iat: undefined } })
      expect((await invokeMint(app.client(ANON_KEY, token))).status).toBe(200)
    }
  })
})
