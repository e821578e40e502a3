import { describe, expect, it } from 'vitest'
import { createHub } from '../../src/hub/index.ts'
import { startApp } from '../support/express-app.ts'
import { hubConfig, SHOP } from '../support/hub/config.ts'
import { publish, type RunningHub, startHub } from '../support/hub/hub.ts'
import { subscribe } from '../support/hub/stream.ts'
import { subscriberToken } from '../support/hub/tokens.ts'
import { rawBytes, rawRequest } from '../support/raw-request.ts'

const HUB = '/.well-known/mercure'
const METADATA = '/.well-known/oauth-protected-resource/.well-known/mercure'
const derived = { resourceIdentifier: undefined }

/** One request under a host name of choice, as the raw bytes of a client. */
async function ask(
  hub: RunningHub,
  target: string,
  host: string,
  headers: readonly string[] = [],
  method = 'GET',
) {
  const head = [`${method} ${target} HTTP/1.1`, `Host: ${host}`, 'Connection: close', ...headers]
  return rawBytes(hub.port, `${head.join('\r\n')}\r\n\r\n`)
}

const resourceOf = async (...request: Parameters<typeof ask>) =>
  JSON.parse((await ask(...request)).body).resource

describe('row 1: the metadata document', () => {
  it('has the members of the protocol, and nothing that is not configured', async () => {
    const hub = await startHub()
    const response = await fetch(`${hub.origin}${METADATA}`)
    expect(response.status).toBe(200)
    expect(response.headers.get('content-type')).toBe('application/json')
    expect(await response.json()).toEqual({
      resource: 'https://hub.shop.example/.well-known/mercure',
      bearer_methods_supported: ['header'],
      authorization_details_types_supported: ['https://mercure.rocks/authorization-detail'],
      mercure_cookie: '__Secure-mercure_access_token',
    })
  })

  it('names the flagged issuers in their order, and the subscriptions feature', async () => {
    const issuers = [
      { ...SHOP, issuer: 'https://b.example', authorizationServer: true },
      SHOP,
      { ...SHOP, issuer: 'https://a.example', authorizationServer: true },
    ]
    const hub = await startHub({ settings: { issuers, subscriptions: true } })
    expect(await (await fetch(`${hub.origin}${METADATA}`)).json()).toMatchObject({
      authorization_servers: ['https://b.example', 'https://a.example'],
      mercure_subscriptions: true,
    })
  })

  it('HEAD has the fields without the body, other methods are 405', async () => {
    const hub = await startHub()
    const head = await fetch(`${hub.origin}${METADATA}`, { method: 'HEAD' })
    expect([head.status, await head.text()]).toEqual([200, ''])
    const post = await fetch(`${hub.origin}${METADATA}`, { method: 'POST' })
    expect([post.status, post.headers.get('allow')]).toEqual([405, 'GET, HEAD'])
  })
})

describe('row 2: a purely anonymous hub', () => {
  it('is no protected resource: 404', async () => {
    const hub = await startHub({ settings: { anonymous: true, issuers: [] } })
    expect((await fetch(`${hub.origin}${METADATA}`)).status).toBe(404)
  })
})

describe('row 3: the identity that is derived from the request', () => {
  it('follows the host that was asked, lower-cased and without its default port', async () => {
    const hub = await startHub({ settings: derived })
    expect(await resourceOf(hub, METADATA, 'A.example')).toBe(`http://a.example${HUB}`)
    expect(await resourceOf(hub, METADATA, 'b.example:80')).toBe(`http://b.example${HUB}`)
    expect(await resourceOf(hub, METADATA, 'b.example:81')).toBe(`http://b.example:81${HUB}`)
  })

  it('a token for one name is 401 on the other', async () => {
    const hub = await startHub({ settings: derived })
    const token = subscriberToken(['*'], { aud: `http://a.example${HUB}` })
    const headers = [`Authorization: Bearer ${token}`]
    expect((await ask(hub, `${HUB}?match=a`, 'a.example', headers, 'HEAD')).status).toBe(200)
    const refused = await ask(hub, `${HUB}?match=a`, 'b.example', headers, 'HEAD')
    expect(refused.status).toBe(401)
    expect(refused.header('www-authenticate')).toBe(
      `Bearer error="invalid_token", resource_metadata="http://b.example${METADATA}"`,
    )
  })

  it.each(['a b', 'a"b', 'user@a.example', 'a.example/x', ''])(
    'a host like "%s" gives no identity, and nothing of it is repeated',
    async (host) => {
      const hub = await startHub({ settings: derived })
      const refused = await ask(hub, `${HUB}?match=a`, host, [], 'HEAD')
      expect([400, 401]).toContain(refused.status)
      expect(refused.header('www-authenticate') ?? 'Bearer').toBe('Bearer')
    },
  )
})

describe('row 4: public_urls', () => {
  const settings = {
    anonymous: true,
    publicUrls: ['https://hub.shop.example', 'http://b.example:81'],
  }

  it.each([HUB, `${HUB}?match=a`, METADATA, `${HUB}/subscriptions`, `${HUB}/other`])(
    'H23: %s is 421 under a foreign host and under the wrong scheme',
    async (target) => {
      const hub = await startHub({ settings })
      for (const host of ['foreign.example', 'hub.shop.example', 'b.example']) {
        const refused = await ask(hub, target, host)
        expect(refused.status).toBe(421)
        expect(refused.body).toBe('Misdirected Request')
      }
    },
  )

  it('a listed origin is served, whatever the letter case, and 421 comes before 405', async () => {
    const hub = await startHub({ settings })
    expect((await ask(hub, `${HUB}?match=a`, 'B.Example:81', [], 'HEAD')).status).toBe(200)
    expect((await ask(hub, HUB, 'foreign.example', [], 'DELETE')).status).toBe(421)
    expect((await ask(hub, HUB, 'foreign.example', [], 'OPTIONS')).status).toBe(421)
  })
})

describe('row 5: forwarded headers', () => {
  const headers = ['X-Forwarded-Host: public.example', 'X-Forwarded-Proto: https']

  it('H23: are ignored from a peer that is not trusted', async () => {
    const hub = await startHub({ settings: derived })
    expect(await resourceOf(hub, METADATA, 'a.example', headers)).toBe(`http://a.example${HUB}`)
    const elsewhere = await startHub({ settings: derived, trustProxy: '10.0.0.0/8' })
    expect(await resourceOf(elsewhere, METADATA, 'a.example', headers)).toBe(
      `http://a.example${HUB}`,
    )
  })

  it.each(['127.0.0.1', '127.0.0.0/8', 1])('count from a trusted one (%s)', async (trustProxy) => {
    const hub = await startHub({ settings: derived, trustProxy })
    expect(await resourceOf(hub, METADATA, 'a.example', headers)).toBe(
      `https://public.example${HUB}`,
    )
  })

  it('make a request secure when the trusted proxy says so', async () => {
    const settings = { allowInsecureHttp: false }
    const hub = await startHub({ settings, trustProxy: '127.0.0.1' })
    const credential = `Authorization: Bearer ${subscriberToken()}`
    const status = async (...fields: string[]) =>
      (await ask(hub, `${HUB}?match=a`, 'a.example', [credential, ...fields], 'HEAD')).status
    expect(await status('X-Forwarded-Proto: https')).toBe(200)
    expect(await status()).toBe(400)
  })
})

describe('row 6: plain HTTP', () => {
  it('H24: with a credential is 400 invalid_request, without one it is served', async () => {
    const hub = await startHub({ settings: { allowInsecureHttp: false, anonymous: true } })
    const presented = [
      { Authorization: `Bearer ${subscriberToken()}` },
      { Cookie: `__Secure-mercure_access_token=${subscriberToken()}` },
    ]
    for (const headers of presented) {
      const { response } = await subscribe(hub, 'match=a', { headers })
      expect(response.status).toBe(400)
      expect(response.headers.get('www-authenticate')).toMatch(/^Bearer error="invalid_request", /)
      expect(await response.text()).toBe('Bad Request')
    }
    expect((await subscribe(hub, 'match=a')).response.status).toBe(200)
    expect((await publish(hub, { topic: 'a' })).status).toBe(400)
  })
})

describe('row 7: the bare challenge', () => {
  it('has the place of the metadata and no error code', async () => {
    const { response } = await subscribe(await startHub(), 'match=a')
    expect(response.status).toBe(401)
    expect(response.headers.get('www-authenticate')).toBe(
      `Bearer resource_metadata="https://hub.shop.example${METADATA}"`,
    )
    expect(response.headers.get('content-type')).toBe('text/plain; charset=utf-8')
    expect(await response.text()).toBe('Unauthorized')
  })
})

describe('row 58: CORS', () => {
  const from = (hub: RunningHub, origin: string, init: RequestInit = {}, path = METADATA) =>
    fetch(`${hub.origin}${path}`, { ...init, headers: { Origin: origin, ...init.headers } })
  const corsOf = (response: Response) =>
    [...response.headers].filter(([name]) => name.startsWith('access-control-'))

  it('is silent when no origin is listed', async () => {
    expect(corsOf(await from(await startHub(), 'https://a.example'))).toEqual([])
  })

  it('H32: repeats a listed origin with credentials, and never another', async () => {
    const corsOrigins = [
      'https://a.example',
      'https://*.shop.example',
      'http://localhost:3000',
      'null',
    ]
    const hub = await startHub({ settings: { corsOrigins } })
    for (const origin of [
      'https://a.example',
      'https://x.y.shop.example',
      'http://localhost:3000',
      'null',
    ]) {
      const response = await from(hub, origin)
      expect(corsOf(response)).toEqual([
        ['access-control-allow-credentials', 'true'],
        ['access-control-allow-origin', origin],
        ['access-control-expose-headers', 'Link, Mercure-Last-Event-ID'],
      ])
      expect(response.headers.get('vary')).toBe('Origin')
    }
    const foreign = [
      'https://b.example',
      'http://a.example',
      'https://a.example:444',
      'https://shop.example',
      'https://.shop.example',
      'https://evil.example/.shop.example',
      'https://a.example.evil.example',
    ]
    for (const origin of foreign) {
      const response = await from(hub, origin)
      expect(response.status).toBe(200)
      expect(corsOf(response)).toEqual([])
      expect(response.headers.get('vary')).toBe('Origin')
    }
  })

  it('H32: under a wildcard there are no credentials', async () => {
    const hub = await startHub({ settings: { corsOrigins: ['https://a.example', '*'] } })
    for (const origin of ['https://a.example', 'https://b.example']) {
      expect(corsOf(await from(hub, origin))).toEqual([
        ['access-control-allow-origin', '*'],
        ['access-control-expose-headers', 'Link, Mercure-Last-Event-ID'],
      ])
    }
  })

  it('A22: a preflight is 204 on every route, without a token', async () => {
    const hub = await startHub({
      settings: { corsOrigins: ['https://a.example'], subscriptions: true },
    })
    for (const path of [HUB, METADATA, `${HUB}/subscriptions`, `${HUB}/subscriptions/exact/a/b`]) {
      const init = { method: 'OPTIONS', headers: { 'Access-Control-Request-Method': 'POST' } }
      const response = await from(hub, 'https://a.example', init, path)
      expect([response.status, await response.text()]).toEqual([204, ''])
      expect(Object.fromEntries(response.headers)).toMatchObject({
        'access-control-allow-origin': 'https://a.example',
        'access-control-allow-methods': 'GET, HEAD, POST, QUERY',
        'access-control-allow-headers': 'authorization, cache-control, last-event-id',
      })
      const foreign = await from(hub, 'https://b.example', init, path)
      expect(foreign.status).toBe(204)
      expect(corsOf(foreign)).toEqual([])
    }
  })

  it('A35: refusals carry it too', async () => {
    const hub = await startHub({ settings: { corsOrigins: ['https://a.example'] } })
    const expired = { Authorization: `Bearer ${subscriberToken(['*'], { exp: 1 })}` }
    const answers = [
      await from(hub, 'https://a.example', { headers: expired }, `${HUB}?match=a`),
      await from(hub, 'https://a.example', {}, `${HUB}?match=a`),
      await from(hub, 'https://a.example', { method: 'DELETE' }, HUB),
      await from(hub, 'https://a.example', {}, `${HUB}/nowhere`),
    ]
    expect(answers.map(({ status }) => status)).toEqual([401, 401, 405, 404])
    for (const answer of answers) {
      expect(answer.headers.get('access-control-allow-origin')).toBe('https://a.example')
      expect(answer.headers.get('x-frame-options')).toBe('DENY')
    }
  })
})

describe('row 69: methods whose condition does not hold', () => {
  const allowOf = async (settings: Parameters<typeof startHub>[0], method: string, path = HUB) => {
    const hub = await startHub(settings)
    const { status, header } = await ask(hub, path, 'hub.shop.example', [], method)
    return [status, header('allow')]
  }
  const only = (role: 'publisher' | 'subscriber') => {
    const other = role === 'publisher' ? 'subscriber' : 'publisher'
    return { settings: { issuers: [{ ...SHOP, [other]: undefined }] } }
  }

  it.each([
    ['without a publisher verifier', only('subscriber'), 'POST', 'GET, HEAD, QUERY'],
    ['with only a publisher verifier', only('publisher'), 'GET', 'POST'],
    ['with only a publisher verifier', only('publisher'), 'HEAD', 'POST'],
    ['with only a publisher verifier', only('publisher'), 'QUERY', 'POST'],
    ['of any hub', {}, 'DELETE', 'GET, HEAD, QUERY, POST'],
    ['of any hub', {}, 'PUT', 'GET, HEAD, QUERY, POST'],
  ])('%s: case %#', async (_name, options, method, allow) => {
    expect(await allowOf(options, method)).toEqual([405, allow])
  })

  it('anonymous mode alone opens the stream', async () => {
    const options = { settings: { ...only('publisher').settings, anonymous: true } }
    const hub = await startHub(options)
    expect((await subscribe(hub, 'match=a')).response.status).toBe(200)
  })

  it('the debugger and the subscriptions are 404 when they are off', async () => {
    for (const method of ['GET', 'POST']) {
      expect(await allowOf({}, method, `${HUB}/debug/`)).toEqual([404, undefined])
      expect(await allowOf({}, method, `${HUB}/subscriptions`)).toEqual([404, undefined])
    }
    expect(
      await allowOf({ settings: { subscriptions: true } }, 'POST', `${HUB}/subscriptions`),
    ).toEqual([405, 'GET, HEAD'])
  })

  it('a hub that is off answers 404 everywhere', async () => {
    const off = { settings: { enabled: false, issuers: [] } }
    for (const path of [HUB, METADATA, `${HUB}/subscriptions`, `${HUB}/debug/`]) {
      expect(await allowOf(off, 'GET', path)).toEqual([404, undefined])
    }
  })

  it('row 63: there are no health routes of the hub', async () => {
    const hub = await startHub({ settings: { anonymous: true } })
    for (const path of [
      '/mercure/health/ready',
      '/mercure/health/live',
      '/mercure/health/default/ready',
    ]) {
      expect((await rawRequest(hub.port, { target: path })).status).toBe(404)
    }
  })

  it('other spellings of the path are not the hub', async () => {
    const hub = await startHub({ settings: { anonymous: true } })
    for (const target of [
      `${HUB}/`,
      '/.well-known/MERCURE',
      '//.well-known/mercure',
      '/.well-known/%6Dercure',
    ]) {
      expect((await rawRequest(hub.port, { target: `${target}?match=a` })).status).toBe(404)
    }
  })
})

describe('a hub below a mount path', () => {
  it('answers nothing as its own: 500', async () => {
    const config = hubConfig({ anonymous: true })
    const hub = createHub({ config })
    const app = await startApp((express) => express.use('/below', hub.router))
    expect((await fetch(`${app.url}/below${HUB}?match=a`)).status).toBe(500)
    expect((await fetch(`${app.url}/other`)).status).toBe(404)
    await app.close()
    await hub.close()
  })
})
