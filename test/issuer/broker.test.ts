import { createClient } from '@supabase/supabase-js'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openApiPath } from '../../src/http/openapi.ts'
import { ISSUER_OPERATIONS } from '../../src/issuer/index.ts'
import { ApiDocument } from '../support/api-document.ts'
import {
  described,
  JWT_ON,
  lastingToken,
  startTestBroker,
  type TestBroker,
} from '../support/broker.ts'
import { ecKey, HS_SECRET } from '../support/keys.ts'
import { invokeMint, SERVICE_KEY, session } from './issuer-app.ts'

const ADMIN = '/api/v1/system/pubsub'
const operationOf = (route: string) => {
  const found = ISSUER_OPERATIONS.find(({ method, path }) => `${method} ${path}` === route)
  if (!found) throw new Error(`no operation ${route}`)
  return found
}

let broker: TestBroker
beforeAll(async () => {
  broker = await startTestBroker({
    ...JWT_ON,
    PUBSUB_JWT_PRIVATE_JWK: JSON.stringify(ecKey('broker-1').privateJwk({ alg: 'ES256' })),
    PUBSUB_SERVICE_ROLE_KEY: SERVICE_KEY,
    PUBSUB_SESSION_JWT_SECRET: HS_SECRET,
  })
})
afterAll(() => broker.stop())

const token = lastingToken('admin')

describe('issuer routes of the broker with the gate on', () => {
  it('administration needs the admin level', async () => {
    for (const [role, status] of [
      ['admin', 201],
      ['read-write', 403],
      ['read-only', 403],
      ['write-only', 403],
    ] as const) {
      const call = { token: lastingToken(role), json: { id: `herd-of-${role}` } }
      expect((await broker.call(`POST ${ADMIN}/herds`, call)).status).toBe(status)
    }
    expect((await broker.call(`GET ${ADMIN}/herds`)).status).toBe(401)
    // The service key opens its own functions, never the administration.
    const headers = { apikey: SERVICE_KEY, authorization: `Bearer ${SERVICE_KEY}` }
    expect((await broker.call(`GET ${ADMIN}/herds`, { headers })).status).toBe(401)
  })

  it('every answer is as the API document describes it', async () => {
    const check = async (route: string, status: number, path: string, json?: unknown) => {
      const call = { token, ...(json !== undefined && { json }) }
      const method = route.split(' ')[0]
      return described(operationOf(route), status, await broker.call(`${method} ${path}`, call))
    }
    const at = (route: string, status: number, json?: unknown) =>
      check(route, status, route.split(' ')[1] ?? '', json)
    await at(`POST ${ADMIN}/herds`, 201, { id: 'described' })
    await at(`POST ${ADMIN}/herds`, 409, { id: 'described' })
    await at(`POST ${ADMIN}/herds`, 400, { id: '' })
    await at(`GET ${ADMIN}/herds`, 200)
    const device = await at(`POST ${ADMIN}/devices`, 201, { herd_id: 'described', name: 'cam' })
    await at(`GET ${ADMIN}/devices`, 200)
    const rotate = `POST ${ADMIN}/devices/:id/rotate`
    await check(rotate, 200, `${ADMIN}/devices/${device.id}/rotate`)
    await check(rotate, 404, `${ADMIN}/devices/x/rotate`)
    await check('GET /pubsub/keys/:kid.jwk', 404, '/pubsub/keys/nobody.jwk')

    const headers = { apikey: SERVICE_KEY }
    const mint = 'POST /functions/v1/mint-pubsub-token'
    const service = (json: unknown) => broker.call(mint, { headers, json })
    described(operationOf(mint), 200, await service({ herd_ids: ['described'] }))
    described(operationOf(mint), 400, await service({}))
    described(operationOf(mint), 401, await broker.call(mint))
    const rpc = (name: string) => `POST /rest/v1/rpc/${name}`
    const list = rpc('get_pubsub_jwt_public_keys')
    described(operationOf(list), 200, await broker.call(list))
    const upsert = rpc('upsert_pubsub_jwt_public_key')
    const jwk = ecKey('described').jwk({ alg: 'ES256' })
    const row = await broker.call(upsert, { headers, json: { kid: 'described', jwk } })
    described(operationOf(upsert), 200, row)
    described(operationOf(upsert), 400, await broker.call(upsert, { headers, json: {} }))
    const revoke = rpc('revoke_pubsub_jwt_public_key')
    const gone = await broker.call(revoke, { headers, json: { kid: 'described' } })
    described(operationOf(revoke), 200, gone)
    const unknown = await broker.call(revoke, { headers, json: { kid: 'unknown' } })
    described(operationOf(revoke), 404, unknown)
  })

  it('a session of the users is no token of the queue, nor the reverse', async () => {
    const user = session('ada')
    expect((await broker.call('GET /api/v1/status', { token: user })).status).toBe(403)
    const client = createClient(broker.url, 'anon', { accessToken: async () => user })
    expect((await invokeMint(client)).status).toBe(401)
  })

  it('mint, functions and key reads are public at the gate and guard themselves', async () => {
    const client = createClient(broker.url, SERVICE_KEY)
    expect((await invokeMint(client, { herd_ids: ['x'] })).status).toBe(200)
    expect((await client.rpc('get_pubsub_jwt_public_keys')).status).toBe(200)
    expect((await broker.call('GET /pubsub/keys/jwks.json')).status).toBe(200)
    expect((await broker.call('POST /functions/v1/mint-pubsub-token')).status).toBe(401)
    expect((await broker.call('POST /rest/v1/rpc/nothing')).status).toBe(404)
    expect((await broker.call('POST /functions/v1/other')).status).toBe(401)
  })

  it('an administration path in another spelling is never at a lower level', async () => {
    for (const path of [
      `/${ADMIN}/herds`,
      '/api/v1/system/pubsub/../pubsub/herds',
      '/pubsub/keys/../../api/v1/system/pubsub/herds',
      '/rest/v1/rpc/..%2f..%2f..%2fapi/v1/system/pubsub/herds',
    ]) {
      const { status } = await broker.call(`GET ${path}`, { token: lastingToken('read-write') })
      expect([403, 404]).toContain(status)
    }
  })
})

describe('issuer routes in the API document', () => {
  it('stand at the level of their rows, with the refusals of those that guard themselves', async () => {
    const api = await ApiDocument.load(broker.call)
    for (const { method, path } of ISSUER_OPERATIONS) {
      const operation = api.document.paths[openApiPath(path)]?.[method.toLowerCase()]
      const level = path.startsWith('/api/v1/system/') ? 'admin' : 'public'
      expect(operation?.['x-access-level'], path).toBe(level)
    }
    const mint = api.document.paths['/functions/v1/mint-pubsub-token']?.['post']
    expect(Object.keys(mint?.responses ?? {})).toEqual(
      expect.arrayContaining(['200', '400', '401', '503']),
    )
    const jwk = api.document.paths['/pubsub/keys/{kid}.jwk']?.['get']
    expect(Object.keys(jwk?.responses['200']?.content ?? {})).toEqual(['application/jwk+json'])
  })

  it('hold no private member of a key', async () => {
    const text = JSON.stringify((await broker.call('GET /openapi.json')).body)
    expect(text).not.toMatch(/"(d|p|q|dp|dq|qi|oth)":/)
    expect(text).not.toContain(String(ecKey('broker-1').privateJwk()['d']))
  })
})

describe('CORS of the issuer routes', () => {
  const preflight = async (path: string) => {
    const headers = { origin: 'https://app.example', 'access-control-request-method': 'POST' }
    const answer = await fetch(`${broker.url}${path}`, { method: 'OPTIONS', headers })
    expect(answer.status).toBe(204)
    expect(answer.headers.get('access-control-allow-origin')).toBe('*')
    return (answer.headers.get('access-control-allow-headers') ?? '').toLowerCase().split(', ')
  }
  const extra = ['apikey', 'x-client-info', 'x-api-key', 'content-profile']

  it.each([
    '/functions/v1/mint-pubsub-token',
    '/rest/v1/rpc/get_pubsub_token_claims',
    '/pubsub/keys/jwks.json',
  ])('%s also allows the headers of the client library', async (path) => {
    expect(await preflight(path)).toEqual(['content-type', 'authorization', ...extra])
  })

  it('other routes do not', async () => {
    expect(await preflight('/api/v1/push')).toEqual(['content-type', 'authorization'])
  })

  it('refusals can be read from any origin', async () => {
    const { status, headers } = await broker.call('POST /functions/v1/mint-pubsub-token')
    expect([status, headers.get('access-control-allow-origin')]).toEqual([401, '*'])
  })
})

describe('PUBSUB_HUB', () => {
  const keys = {
    PUBSUB_JWT_PRIVATE_JWK: JSON.stringify(ecKey('broker-1').privateJwk({ alg: 'ES256' })),
    PUBSUB_SERVICE_ROLE_KEY: SERVICE_KEY,
    MERCURE_ALLOW_INSECURE_HTTP: 'true',
  }
  const HUB = '/.well-known/mercure'
  const publish = async (at: TestBroker) => {
    const client = createClient(at.url, SERVICE_KEY)
    const { body } = await invokeMint(client, { herd_ids: ['north'] })
    const headers = { authorization: `Bearer ${body['token']}` }
    const form = new URLSearchParams({ topic: 'north/x' })
    return fetch(`${at.url}${HUB}`, { method: 'POST', headers, body: form })
  }

  it('alone turns the hub on, for both roles', async () => {
    const on = await startTestBroker({ ...keys, PUBSUB_HUB: 'true' })
    expect((await publish(on)).status).toBe(200)
    expect((await fetch(`${on.url}${HUB}?match=a`)).status).toBe(401)
    await on.stop()
  })

  it('off by default: the hub knows nothing of path-prefix tokens', async () => {
    const off = await startTestBroker({ ...keys, MERCURE_PUBLISHER_JWT_KEY: HS_SECRET })
    expect((await publish(off)).status).toBe(401)
    await off.stop()
  })

  it('revoking a kid ends its hub streams', async () => {
    const on = await startTestBroker({ ...keys, PUBSUB_HUB: 'true', MERCURE_ANONYMOUS: 'true' })
    const admin = createClient(on.url, SERVICE_KEY)
    const { body } = await invokeMint(admin, { herd_ids: ['north'] })
    const headers = { authorization: `Bearer ${body['token']}` }
    const stream = await fetch(`${on.url}${HUB}?match=north/x`, { headers })
    expect(stream.status).toBe(200)
    await admin.rpc('revoke_pubsub_jwt_public_key', { kid: 'broker-1' })
    // Reads to the end: only the hub can end this stream.
    expect(await stream.text()).toBe(':\n')
    await on.stop()
  })
})
