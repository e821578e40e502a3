import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { pubsubDialect } from '../../src/assembly/pubsub-dialect.ts'
import { type RunningHub, startHub } from '../support/hub/hub.ts'
import { subscribe } from '../support/hub/stream.ts'
import { publisherToken, subscriberToken } from '../support/hub/tokens.ts'
import { ecKey } from '../support/keys.ts'
import { mint } from '../support/tokens.ts'
import { type IssuerApp, invokeMint, SERVICE_KEY, startIssuer } from './issuer-app.ts'

let issuer: IssuerApp
beforeAll(async () => {
  issuer = await startIssuer()
})
afterAll(() => issuer.close())

/** A hub that also takes path-prefix tokens, and closes the streams of a key that was revoked. */
async function startPathHub(): Promise<RunningHub> {
  const { registry } = issuer.issuer
  const dialect = pubsubDialect(registry, Date)
  const running = await startHub({ otherDialect: dialect })
  registry.onRetired((kid) => running.hub.endStreams((bearer) => dialect.kidOf(bearer) === kid))
  return running
}

type Members = Readonly<Record<string, unknown>>
const exp = Math.floor(Date.now() / 1000) + 600
const token = (claims: Members, header: Members = { kid: 'mint-1' }) =>
  mint({
    alg: 'ES256',
    key: ecKey('mint-1').privateKey,
    header,
    claims: { root: '', exp, iat: undefined, role: undefined, sub: undefined, ...claims },
  })

async function publish(hub: RunningHub, compact: string, ...topics: readonly string[]) {
  const body = new URLSearchParams({ private: '' })
  for (const topic of topics) body.append('topic', topic)
  const headers = { authorization: `Bearer ${compact}` }
  return fetch(hub.url, { method: 'POST', headers, body })
}

describe('path-prefix tokens on the hub', () => {
  it.each<[Members, readonly string[], number]>([
    [{ put: ['team-a'] }, ['team-a'], 200],
    [{ put: ['team-a'] }, ['team-a/x'], 200],
    [{ put: ['team-a'] }, ['/team-a/x/'], 200],
    [{ put: ['team-a'] }, ['team-ab/x'], 403],
    [{ put: ['team-a'] }, ['Team-a/x'], 403],
    [{ put: ['team-a'] }, ['team-a/../x'], 403],
    [{ put: ['team-a'] }, ['team-a%2Fx'], 403],
    [{ put: ['team-a'] }, ['team-a/x', 'other'], 403],
    [{ put: ['team-a', 'other'] }, ['team-a/x', 'other'], 200],
    [{ get: ['team-a'] }, ['team-a/x'], 403],
    [{ put: [''] }, ['any/where'], 200],
    [{ put: [''] }, ['https://shop.example/orders/1'], 200],
    [{ put: ['shop.example'] }, ['https://shop.example/orders/1'], 403],
    [{ put: [] }, ['any'], 403],
    [{ root: 'demo', put: ['cam'] }, ['demo/cam/1'], 200],
    [{ root: 'demo', put: ['cam'] }, ['cam/1'], 403],
  ])('%j publishing on %j is %d', async (claims, topics, status) => {
    const hub = await startPathHub()
    const answer = await publish(hub, token(claims), ...topics)
    expect(answer.status).toBe(status)
    if (status === 403) {
      expect(answer.headers.get('www-authenticate')).toContain('error="insufficient_scope"')
    }
  })

  it.each<[string, string]>([
    ['without exp', token({ put: [''], exp: undefined })],
    ['that has expired', token({ put: [''], exp: exp - 3600 })],
    ['without kid', token({ put: [''] }, {})],
    ['of an unknown kid', token({ put: [''] }, { kid: 'unknown' })],
    ['without put and get', token({})],
    [
      'signed by a stranger',
      mint({ alg: 'ES256', header: { kid: 'mint-1' }, claims: { put: [''], root: '', exp } }),
    ],
    [
      'of a symmetric key',
      mint({ header: { kid: 'mint-1' }, claims: { put: [''], root: '', exp } }),
    ],
    ['of no type at all and no kid', token({ put: [''] }, { typ: undefined })],
  ])('a token %s is 401', async (_what, compact) => {
    const hub = await startPathHub()
    const answer = await publish(hub, compact, 'a')
    expect(answer.status).toBe(401)
    expect(answer.headers.get('www-authenticate')).toContain('error="invalid_token"')
  })

  it('the dialects stand side by side, each with its own rules', async () => {
    const hub = await startPathHub()
    expect((await publish(hub, publisherToken(['a']), 'a')).status).toBe(200)
    expect((await publish(hub, publisherToken(['a']), 'a/b')).status).toBe(403)
    expect((await publish(hub, token({ put: ['a'] }), 'a/b')).status).toBe(200)
    // An access token signed with a registered key is no path-prefix token, and no access token here either.
    const disguised = token({ put: [''] }, { kid: 'mint-1', typ: 'at+jwt' })
    expect((await publish(hub, disguised, 'a')).status).toBe(401)
  })

  it('without the dialect the same token is 401', async () => {
    const plain = await startHub()
    expect((await publish(plain, token({ put: [''] }), 'a')).status).toBe(401)
  })

  it('get receives private updates of its paths and of no others; put receives none', async () => {
    const hub = await startPathHub()
    const query = 'match=*'
    const viewer = await subscribe(hub, query, { token: token({ get: ['herd/cam'] }) })
    const camera = await subscribe(hub, query, { token: token({ put: ['herd'] }) })
    const all = await subscribe(hub, query, { token: token({ get: [''] }) })
    const mercure = await subscribe(hub, query, { token: subscriberToken(['herd/cam/1']) })
    for (const topic of ['herd', 'herd/camera', 'herd/cam/1', 'herd/cam']) {
      await publish(hub, token({ put: ['herd'] }), topic)
    }
    expect(await all.take(4)).toHaveLength(4)
    expect(await viewer.take(2)).toHaveLength(2)
    expect(await mercure.take(1)).toHaveLength(1)
    expect([viewer.waiting, camera.waiting, mercure.waiting]).toEqual([[], [], []])
  })

  it('a token minted here works at once', async () => {
    const hub = await startPathHub()
    const { api_key: key } = await issuer.device('minted')
    const { body } = await invokeMint(issuer.client(key))
    const compact = String(body['token'])
    const stream = await subscribe(hub, 'match=minted/frames', { token: compact })
    expect((await publish(hub, compact, 'minted/frames')).status).toBe(200)
    await stream.next()
    expect((await publish(hub, compact, 'other/frames')).status).toBe(403)
  })
})

describe('revoking a key on the hub', () => {
  it('closes the streams that were opened with it and refuses its tokens at once; others go on', async () => {
    const hub = await startPathHub()
    const client = issuer.client(SERVICE_KEY)
    const jwk = ecKey('short-lived').jwk({ alg: 'ES256' })
    await client.rpc('upsert_pubsub_jwt_public_key', { kid: 'short-lived', jwk })
    const doomed = mint({
      alg: 'ES256',
      key: ecKey('short-lived').privateKey,
      header: { kid: 'short-lived' },
      claims: { root: '', put: ['a'], get: ['a'], exp, iat: undefined },
    })
    const closing = await subscribe(hub, 'match=a', { token: doomed })
    const staying = await subscribe(hub, 'match=a', { token: token({ get: ['a'] }) })
    const mercure = await subscribe(hub, 'match=a', { token: subscriberToken(['a']) })
    await client.rpc('revoke_pubsub_jwt_public_key', { kid: 'short-lived' })
    await closing.ended
    expect((await publish(hub, doomed, 'a')).status).toBe(401)
    expect((await subscribe(hub, 'match=a', { token: doomed })).response.status).toBe(401)
    expect((await publish(hub, token({ put: ['a'] }), 'a')).status).toBe(200)
    await staying.next()
    await mercure.next()
    expect(hub.hub.health().subscribers).toBe(2)
  })

  it('ends the grants too, for a stream that was just being opened', async () => {
    const { registry } = issuer.issuer
    const client = issuer.client(SERVICE_KEY)
    const jwk = ecKey('racing').jwk({ alg: 'ES256' })
    await client.rpc('upsert_pubsub_jwt_public_key', { kid: 'racing', jwk })
    const compact = mint({
      alg: 'ES256',
      key: ecKey('racing').privateKey,
      header: { kid: 'racing' },
      claims: { root: '', get: [''], exp, iat: undefined },
    })
    const { grants } = await pubsubDialect(registry, Date).verify(compact, 'subscriber')
    expect(grants.allowsAny('subscribe', ['a'])).toBe(true)
    await client.rpc('revoke_pubsub_jwt_public_key', { kid: 'racing' })
    expect(grants.allows('subscribe', 'a')).toBe(false)
    expect(grants.allowsAny('subscribe', ['a'])).toBe(false)
    expect(grants.allowsEvery('subscribe', ['a'])).toBe(false)
  })
})
