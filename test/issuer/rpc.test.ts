import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ecKey, edKey, rsaKey } from '../support/keys.ts'
import {
  ANON_KEY,
  type IssuerApp,
  objectOf,
  SERVICE_KEY,
  session,
  startIssuer,
} from './issuer-app.ts'

let app: IssuerApp
let deviceKey: string
beforeAll(async () => {
  app = await startIssuer()
  deviceKey = (await app.device('north')).api_key
  await app.grant('ada', 'north', 'read', 'write')
  await app.admin('PUT', '/users/root/superadmin')
})
afterAll(() => app.close())

/** Every kind of caller as a client, by name. */
const callers = {
  service: () => app.client(SERVICE_KEY),
  superadmin: () => app.client(ANON_KEY, session('root')),
  user: () => app.client(ANON_KEY, session('ada')),
  powerless: () => app.client(ANON_KEY, session('zoe')),
  device: () => app.client(deviceKey),
  nobody: () => app.client(ANON_KEY),
}
type CallerName = keyof typeof callers

const rpc = (who: CallerName, name: string, args?: Record<string, unknown>) =>
  callers[who]().rpc(name, args)

const jwk = (kid: string) => ecKey(kid).jwk({ alg: 'ES256' })

describe('who may call which function', () => {
  const upsert = { kid: 'gate-key', jwk: jwk('gate-key') }
  const rows: readonly (readonly [
    string,
    Record<string, unknown>,
    Partial<Record<CallerName, number>>,
  ])[] = [
    [
      'get_pubsub_jwt_public_keys',
      {},
      { service: 200, superadmin: 200, user: 200, powerless: 200, device: 200, nobody: 200 },
    ],
    [
      'upsert_pubsub_jwt_public_key',
      upsert,
      { service: 200, superadmin: 200, user: 403, powerless: 403, device: 403, nobody: 401 },
    ],
    [
      'revoke_pubsub_jwt_public_key',
      { kid: 'gate-key' },
      { user: 403, powerless: 403, device: 403, nobody: 401, service: 200, superadmin: 200 },
    ],
    [
      'get_pubsub_token_claims',
      {},
      { service: 403, superadmin: 200, user: 200, powerless: 200, device: 200, nobody: 401 },
    ],
    [
      'get_service_pubsub_token_claims',
      { herd_ids: ['a'] },
      { service: 200, superadmin: 403, user: 403, powerless: 403, device: 403, nobody: 401 },
    ],
  ]
  const cases = rows.flatMap(([name, args, statuses]) =>
    Object.entries(statuses).map(([who, status]) => [name, who, status, args] as const),
  )
  it.each(cases)('%s by %s is %d', async (name, who, status, args) => {
    // The names are the keys of the table above.
    const answer = await rpc(who as CallerName, name, args)
    expect(answer.status).toBe(status)
  })
})

describe('get_pubsub_token_claims', () => {
  it('answers what a token would allow, null for nothing', async () => {
    const claimsOf = async (who: CallerName) => (await rpc(who, 'get_pubsub_token_claims')).data
    expect(await claimsOf('superadmin')).toEqual({ root: '', put: [''], get: [''] })
    expect(await claimsOf('user')).toEqual({ root: '', put: ['north'], get: ['north'] })
    expect(await claimsOf('device')).toEqual({ root: '', put: ['north'], get: ['north'] })
    expect(await claimsOf('powerless')).toBeNull()
  })
})

describe('get_service_pubsub_token_claims', () => {
  it('answers the scope as put', async () => {
    const { data } = await rpc('service', 'get_service_pubsub_token_claims', {
      herd_ids: ['b', 'a'],
    })
    expect(data).toEqual({ root: '', put: ['b', 'a'], get: [] })
  })

  it.each([{}, { herd_ids: [] }, { herd_ids: 'a' }, { herd_ids: [''] }, { herd_ids: [null] }])(
    '%j is 400',
    async (args) => {
      const { status, error } = await rpc('service', 'get_service_pubsub_token_claims', args)
      expect(status).toBe(400)
      expect(error).toMatchObject({
        message: 'Invalid argument: herd_ids',
        code: 'invalid_argument',
      })
    },
  )
})

describe('key registry', () => {
  const keys = async () => (await rpc('nobody', 'get_pubsub_jwt_public_keys')).data
  const kids = async () => (await keys()).map((row: { kid: string }) => row.kid)

  it('holds the public half of the minting key from the start', async () => {
    const own = (await keys()).find((row: { kid: string }) => row.kid === 'mint-1')
    expect(Object.keys(own)).toEqual(['kid', 'jwk', 'created_at'])
    const { x, y } = ecKey('mint-1').jwk()
    expect(own.jwk).toEqual({
      kty: 'EC',
      crv: 'P-256',
      x,
      y,
      kid: 'mint-1',
      alg: 'ES256',
      use: 'sig',
      key_ops: ['verify'],
    })
    expect(own.created_at).toMatch(/^\d{4}-\d{2}-\d{2}T[\d:.]+Z$/)
  })

  it('an upserted key is active, a revoked one is not, a second upsert brings it back', async () => {
    const args = { kid: 'cycle', jwk: jwk('cycle') }
    const { data: row } = await rpc('service', 'upsert_pubsub_jwt_public_key', args)
    expect(Object.keys(row)).toEqual(['kid', 'jwk', 'created_at', 'revoked_at'])
    expect(row).toMatchObject({ kid: 'cycle', revoked_at: null })
    expect(await kids()).toContain('cycle')

    const revoked = await rpc('service', 'revoke_pubsub_jwt_public_key', { kid: 'cycle' })
    expect(revoked.data).toMatchObject({ kid: 'cycle', created_at: row.created_at })
    expect(revoked.data.revoked_at).toMatch(/Z$/)
    expect(await kids()).not.toContain('cycle')

    const again = await rpc('service', 'revoke_pubsub_jwt_public_key', { kid: 'cycle' })
    expect(again.data.revoked_at).toBe(revoked.data.revoked_at)

    const back = await rpc('superadmin', 'upsert_pubsub_jwt_public_key', args)
    expect(back.data).toMatchObject({ kid: 'cycle', revoked_at: null, created_at: row.created_at })
    expect(await kids()).toContain('cycle')
  })

  it('the jwk may leave out its kid', async () => {
    const args = { kid: 'nameless', jwk: { ...jwk('x'), kid: undefined } }
    const { data } = await rpc('service', 'upsert_pubsub_jwt_public_key', args)
    expect(data.jwk.kid).toBe('nameless')
  })

  it('an unknown kid cannot be revoked', async () => {
    const { status, error } = await rpc('service', 'revoke_pubsub_jwt_public_key', { kid: 'ghost' })
    expect(status).toBe(404)
    expect(error).toMatchObject({ error: 'Unknown kid' })
  })

  it.each<[string, Record<string, unknown>]>([
    ['no arguments', {}],
    ['no jwk', { kid: 'k' }],
    ['no kid', { jwk: jwk('k') }],
    ['a kid that is no string', { kid: 1, jwk: jwk('k') }],
    ['a kid that differs', { kid: 'k', jwk: jwk('other') }],
    ['a kid with a slash', { kid: 'a/b', jwk: { ...jwk('k'), kid: 'a/b' } }],
    ['a jwk as text', { kid: 'k', jwk: JSON.stringify(jwk('k')) }],
    ['a private EC jwk', { kid: 'k', jwk: ecKey('k').privateJwk({ alg: 'ES256' }) }],
    ['a private RSA jwk', { kid: 'k', jwk: rsaKey('k').privateJwk({ alg: 'RS256' }) }],
    ['a private OKP jwk', { kid: 'k', jwk: edKey('k').privateJwk({ alg: 'EdDSA' }) }],
    ['a symmetric jwk', { kid: 'k', jwk: { kty: 'oct', kid: 'k', alg: 'HS256', k: 'c2VjcmV0' } }],
    ['a jwk without alg', { kid: 'k', jwk: ecKey('k').jwk() }],
    ['an encryption key', { kid: 'k', jwk: rsaKey('k').jwk({ alg: 'RS256', use: 'enc' }) }],
    ['a broken point', { kid: 'k', jwk: { ...jwk('k'), x: 'AAAA' } }],
  ])('upsert with %s is 400 and stores nothing', async (_what, args) => {
    const { status } = await rpc('service', 'upsert_pubsub_jwt_public_key', args)
    expect(status).toBe(400)
    expect((await app.store.keys()).map((row) => row.kid)).not.toContain('k')
  })

  it('an unknown function is 404', async () => {
    expect((await rpc('service', 'drop_everything')).status).toBe(404)
  })

  it('answers are not stored by caches', async () => {
    const url = `${app.url}/rest/v1/rpc/get_pubsub_token_claims`
    const answer = await fetch(url, { method: 'POST', headers: { apikey: deviceKey } })
    expect(answer.headers.get('cache-control')).toBe('no-store')
    expect(await objectOf(answer)).toMatchObject({ put: ['north'] })
  })

  it('a replaced key no longer verifies, its successor does', async () => {
    const before = jwk('swap')
    const after = ecKey('swapped').jwk({ alg: 'ES256', kid: 'swap' })
    await rpc('service', 'upsert_pubsub_jwt_public_key', { kid: 'swap', jwk: before })
    const retired: string[] = []
    app.issuer.registry.onRetired((kid) => retired.push(kid))
    await rpc('service', 'upsert_pubsub_jwt_public_key', { kid: 'swap', jwk: after })
    expect(app.issuer.registry.find('swap')).toMatchObject({ x: after['x'] })
    expect(retired).toEqual(['swap'])
    await rpc('service', 'upsert_pubsub_jwt_public_key', { kid: 'swap', jwk: after })
    expect(retired).toEqual(['swap'])
  })
})

describe('key registry across restarts', () => {
  it('keeps a revoked minting key revoked, warns, and mints nothing', async () => {
    const first = await startIssuer()
    const { error } = await first
      .client(SERVICE_KEY)
      .rpc('revoke_pubsub_jwt_public_key', { kid: 'mint-1' })
    expect(error).toBeNull()
    await first.stop()
    const second = await startIssuer({ dataDir: first.dataDir })
    expect(second.log()).toContain('its kid is revoked')
    expect(second.issuer.registry.isRevoked('mint-1')).toBe(true)
    const { response } = await second.client(SERVICE_KEY).functions.invoke('mint-pubsub-token', {
      body: { herd_ids: ['a'] },
    })
    expect(response?.status).toBe(503)
    await second.close()
  })

  it('stops the boot when the kid stands for another key', async () => {
    const first = await startIssuer()
    await first.stop()
    const other = JSON.stringify(ecKey('other').privateJwk({ alg: 'ES256', kid: 'mint-1' }))
    const restart = startIssuer({ dataDir: first.dataDir, env: { PUBSUB_JWT_PRIVATE_JWK: other } })
    await expect(restart).rejects.toThrow(/^PUBSUB_JWT_PRIVATE_JWK: kid mint-1 /)
    await (await startIssuer({ dataDir: first.dataDir })).close()
  })
})
