import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { edKey, rsaKey } from '../support/keys.ts'
import { rawRequest } from '../support/raw-request.ts'
import { type IssuerApp, objectOf, SERVICE_KEY, startIssuer } from './issuer-app.ts'

let app: IssuerApp
beforeAll(async () => {
  app = await startIssuer()
  await upsert('rsa-a', rsaKey('rsa-a').jwk({ alg: 'PS384' }))
  await upsert('ed-a', edKey('ed-a').jwk({ alg: 'EdDSA' }))
})
afterAll(() => app.close())

const upsert = (kid: string, jwk: unknown) =>
  app.client(SERVICE_KEY).rpc('upsert_pubsub_jwt_public_key', { kid, jwk })
const get = (path: string, headers: Record<string, string> = {}) =>
  fetch(`${app.url}/pubsub/keys/${path}`, { headers })

describe('{kid}.jwk', () => {
  it.each([
    ['mint-1', { kty: 'EC', alg: 'ES256' }],
    ['rsa-a', { kty: 'RSA', alg: 'PS384' }],
    ['ed-a', { kty: 'OKP', alg: 'EdDSA' }],
  ])('serves %s as application/jwk+json, cacheable, with an ETag', async (kid, members) => {
    const answer = await get(`${kid}.jwk`)
    expect(answer.status).toBe(200)
    expect(answer.headers.get('content-type')).toBe('application/jwk+json')
    expect(answer.headers.get('cache-control')).toBe('public, max-age=30, must-revalidate')
    expect(answer.headers.get('etag')).toMatch(/^"[\w-]+"$/)
    const shared = { kid, use: 'sig', key_ops: ['verify'] }
    expect(await objectOf(answer)).toMatchObject({ ...members, ...shared })
  })

  it('answers 304 to the ETag it gave', async () => {
    const etag = (await get('mint-1.jwk')).headers.get('etag') ?? ''
    const again = await get('mint-1.jwk', { 'if-none-match': etag, 'cache-control': 'max-age=0' })
    expect([again.status, await again.text()]).toEqual([304, ''])
    expect((await get('rsa-a.jwk', { 'if-none-match': etag })).status).toBe(200)
  })

  it('HEAD has the headers of GET and no body', async () => {
    const answer = await fetch(`${app.url}/pubsub/keys/mint-1.jwk`, { method: 'HEAD' })
    expect(answer.status).toBe(200)
    expect(answer.headers.get('content-type')).toBe('application/jwk+json')
    expect(await answer.text()).toBe('')
  })

  it('an unknown and a revoked kid get the same 404, which no cache keeps', async () => {
    await upsert('gone', edKey('gone').jwk({ alg: 'EdDSA' }))
    expect((await get('gone.jwk')).status).toBe(200)
    await app.client(SERVICE_KEY).rpc('revoke_pubsub_jwt_public_key', { kid: 'gone' })
    const answers = await Promise.all([get('gone.jwk'), get('never-seen.jwk')])
    for (const answer of answers) {
      expect(answer.status).toBe(404)
      expect(answer.headers.get('cache-control')).toBe('no-store')
      expect(await objectOf(answer)).toEqual({ error: 'Unknown kid' })
    }
  })

  it.each([
    'mint-1',
    'mint-1.JWK',
    'MINT-1.jwk',
    'mint-1.jwk/',
    '.jwk',
    'x/mint-1.jwk',
    '__proto__.jwk',
  ])('%j is 404', async (path) => {
    expect((await get(path)).status).toBe(404)
  })

  it('an encoded traversal finds nothing', async () => {
    const port = Number(new URL(app.url).port)
    for (const target of ['/pubsub/keys/..%2fmint-1.jwk', '/pubsub/keys/%2e%2e/keys/mint-1.jwk']) {
      expect((await rawRequest(port, { target })).status).toBe(404)
    }
  })
})

describe('jwks.json', () => {
  it('serves the whole active set', async () => {
    const answer = await get('jwks.json')
    expect(answer.headers.get('content-type')).toBe('application/jwk-set+json')
    const { keys } = await objectOf(answer)
    const kids = Array.isArray(keys) ? keys.map((key) => key.kid) : []
    expect(kids).toEqual(expect.arrayContaining(['mint-1', 'rsa-a', 'ed-a']))
    expect(kids).not.toContain('gone')
  })
})
