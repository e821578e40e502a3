import { describe, expect, it, onTestFinished } from 'vitest'
import { startTestBroker } from '../../support/broker.ts'
import { startChildBroker } from '../../support/child-broker.ts'
import { publishTo, subscribeTo } from '../../support/hub/broker.ts'
import { temporaryFolder } from '../../support/hub/hub.ts'
import { accessToken, bearer, detail } from '../../support/hub/tokens.ts'

const HUB = '/.well-known/mercure'
const DEBUG = `${HUB}/debug/`
const DEV_SECRET = '!ChangeThisMercureHubJWTSecretKey!'

async function devBroker(env: Readonly<Record<string, string>> = {}) {
  const broker = await startTestBroker({ MERCURE_DEV: 'true', ...env })
  onTestFinished(() => broker.stop())
  return broker
}

const pageToken = async (url: string): Promise<string> => {
  const page = await (await fetch(`${url}${DEBUG}`)).text()
  return /<textarea id="token"[^>]*>([^<]*)</.exec(page)?.[1] ?? 'no field'
}

const claimsOf = (token: string) =>
  JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString())

/** A token as `mercure-token --dev` makes it. */
const devToken = (key = DEV_SECRET, iss = 'https://localhost') =>
  accessToken([detail('publish', ['*']), detail('subscribe', ['*'])], {
    key,
    claims: { iss, aud: `https://localhost${HUB}`, exp: 4_102_444_800 },
  })

describe('row 62: development mode', () => {
  it('opens everything: anonymous streams, subscriptions, debugger, plain HTTP, CORS and cookies', async () => {
    const broker = await devBroker()
    const stream = await subscribeTo(broker, 'match=a')
    expect(stream.response.status).toBe(200)
    expect((await publishTo(broker, { topic: 'a', id: '1' }, devToken())).status).toBe(200)
    expect((await stream.next()).id).toBe('1')
    const list = await fetch(`${broker.url}${HUB}/subscriptions`, { headers: bearer(devToken()) })
    expect(list.status).toBe(200)
    const cookie = {
      Cookie: `mercure_access_token=${devToken()}`,
      Origin: 'http://anywhere.example',
    }
    const byCookie = await fetch(`${broker.url}${HUB}`, {
      method: 'POST',
      headers: cookie,
      body: new URLSearchParams({ topic: 'a' }),
    })
    expect(byCookie.status).toBe(200)
    expect(byCookie.headers.get('access-control-allow-origin')).toBe('*')
  })

  it('the page has a token with grants on everything, for this hub, until 2100', async () => {
    const broker = await devBroker()
    const token = await pageToken(broker.url)
    expect(claimsOf(token)).toMatchObject({
      iss: 'https://localhost',
      aud: `https://localhost${HUB}`,
      exp: 4_102_444_800,
      authorization_details: [{ actions: ['publish', 'subscribe'], topics: [{ match: '*' }] }],
    })
    expect((await publishTo(broker, { topic: 'a', private: '' }, token)).status).toBe(200)
    const page = await fetch(`${broker.url}${DEBUG}`)
    expect(page.headers.get('cache-control')).toBe('no-store')
  })

  it('config.json tells the page what it has to know', async () => {
    const broker = await devBroker()
    const response = await fetch(`${broker.url}${DEBUG}config.json`)
    expect(response.headers.get('cache-control')).toBe('no-store')
    expect(await response.json()).toEqual({
      playground: true,
      anonymous: true,
      subscriptions: true,
      cookieName: 'mercure_access_token',
    })
  })

  it('explicit settings win: keys, cookie name, origins; no token is made from two secrets for publishing', async () => {
    const broker = await devBroker({
      MERCURE_PUBLISHER_JWT_KEY: 'publisher-fixture-0123456789abcdef',
      MERCURE_SUBSCRIBER_JWT_KEY: 'subscriber-fixture-0123456789abcde',
      MERCURE_COOKIE_NAME: 'mine',
      MERCURE_CORS_ORIGINS: 'https://a.example',
    })
    const [granted] = claimsOf(await pageToken(broker.url)).authorization_details
    expect(granted.actions).toEqual(['subscribe'])
    expect((await publishTo(broker, { topic: 'a' }, devToken())).status).toBe(401)
    const config = await (await fetch(`${broker.url}${DEBUG}config.json`)).json()
    expect(config).toMatchObject({ cookieName: 'mine' })
    const foreign = await fetch(`${broker.url}${HUB}?match=a`, {
      method: 'HEAD',
      headers: { Origin: 'https://b.example' },
    })
    expect(foreign.headers.get('access-control-allow-origin')).toBeNull()
  })

  it('the playground is an application that leads to the hub', async () => {
    const broker = await devBroker()
    const path = '/playground/books/1.json'
    const query = `?body=${encodeURIComponent('{"a":1}')}&jwt=x.y.z`
    const response = await fetch(`${broker.url}${path}${query}`)
    expect(response.headers.get('content-type')).toContain('application/json')
    expect(await response.json()).toEqual({ a: 1 })
    expect(response.headers.get('link')).toBe(
      `</.well-known/mercure>; rel="mercure", <${broker.url}${path}>; rel="self"`,
    )
    expect(response.headers.get('set-cookie')).toBe(
      'mercure_access_token=x.y.z; Path=/.well-known/mercure; HttpOnly; SameSite=Strict',
    )
    const without = await fetch(`${broker.url}/playground/x.html?body=<script>alert(1)</script>`)
    expect(without.headers.get('set-cookie')).toContain('Max-Age=0')
    expect(without.headers.get('content-security-policy')).toBe("default-src 'self'")
  })

  it('/ stays the dashboard', async () => {
    const broker = await devBroker()
    const response = await fetch(`${broker.url}/`, { redirect: 'manual' })
    expect(response.status).toBe(200)
  })

  it('row 61: serve --dev needs no configuration for a token of the development secret', async () => {
    const broker = await startChildBroker({ DATA_DIR: temporaryFolder() }, ['--dev'])
    onTestFinished(() => broker.signal('SIGKILL'))
    expect((await publishTo(broker, { topic: 'a' }, devToken())).status).toBe(200)
    expect(broker.output()).toContain('MERCURE_DEV')
  })
})

describe('H36: without its switch', () => {
  it('the development secret is not trusted and the playground is not there', async () => {
    const env = { MERCURE_DEV: '', MERCURE_ANONYMOUS: 'true', MERCURE_ALLOW_INSECURE_HTTP: 'true' }
    const broker = await devBroker({
      ...env,
      MERCURE_SUBSCRIBER_JWT_KEY: 'subscriber-fixture-0123456789abcde',
    })
    const headers = bearer(devToken())
    expect((await subscribeTo(broker, 'match=a', headers)).response.status).toBe(401)
    expect((await fetch(`${broker.url}/playground/x.json`)).status).toBe(404)
    expect((await fetch(`${broker.url}${DEBUG}`)).status).toBe(404)
  })

  it('the debugger page alone holds no token', async () => {
    const broker = await devBroker({
      MERCURE_DEV: '',
      MERCURE_DEBUGGER: 'true',
      MERCURE_SUBSCRIBER_JWT_KEY: 'subscriber-fixture-0123456789abcde',
    })
    expect(await pageToken(broker.url)).toBe('')
    for (const [file, type] of [
      ['debugger.js', 'text/javascript; charset=utf-8'],
      ['events.js', 'text/javascript; charset=utf-8'],
      ['debugger.css', 'text/css; charset=utf-8'],
      ['icon.svg', 'image/svg+xml'],
    ]) {
      const response = await fetch(`${broker.url}${DEBUG}${file}`)
      expect([response.status, response.headers.get('content-type')]).toEqual([200, type])
    }
    for (const file of ['nothing.js', '..%2Findex.ts', 'index.html/', '%2e%2e/hub.ts']) {
      expect((await fetch(`${broker.url}${DEBUG}${file}`)).status).toBe(404)
    }
  })
})
