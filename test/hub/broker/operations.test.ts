import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { JWT_ON, startTestBroker } from '../../support/broker.ts'
import { HUB_ON, publishTo, subscribeTo } from '../../support/hub/broker.ts'
import { bearer, publisherToken, subscriberToken } from '../../support/hub/tokens.ts'
import { rawRequest } from '../../support/raw-request.ts'
import { mint } from '../../support/tokens.ts'

const HUB = '/.well-known/mercure'

async function brokerWith(env: Readonly<Record<string, string>> = {}) {
  const broker = await startTestBroker({ ...HUB_ON, ...env })
  onTestFinished(() => broker.stop())
  return broker
}

describe('row 63: health', () => {
  it('of the hub is part of the health of the broker', async () => {
    const broker = await brokerWith()
    const before = await broker.call('GET /health')
    expect(before).toMatchObject({
      status: 200,
      body: { status: 'healthy', hub: { enabled: true, status: 'ok', subscribers: 0 } },
    })
    await subscribeTo(broker, 'match=a')
    expect((await broker.call('GET /health')).body.hub.subscribers).toBe(1)
  })

  it('has no routes below /mercure/health, and /metrics stays JSON of the queue', async () => {
    const broker = await brokerWith()
    for (const path of ['ready', 'live', 'default/ready', 'default/live', 'x']) {
      expect((await broker.call(`GET /mercure/health/${path}`)).status).toBe(404)
    }
    const metrics = await broker.call('GET /metrics')
    expect(metrics.headers.get('content-type')).toContain('application/json')
  })
})

describe('row 64: metrics', () => {
  it('follow connections and publications; subscription events do not count', async () => {
    const broker = await brokerWith({ MERCURE_SUBSCRIPTIONS: 'true' })
    const figures = async () => {
      const { body } = await broker.call('GET /metrics/prometheus')
      const read = (name: string) => Number(new RegExp(`^${name} ([0-9]+)$`, 'm').exec(body)?.[1])
      return [
        read('mercure_subscribers_connected'),
        read('mercure_subscribers_total'),
        read('mercure_updates_total'),
        read('mercure_updates_failed_total'),
      ]
    }
    expect(await figures()).toEqual([0, 0, 0, 0])
    const stream = await subscribeTo(broker, 'match=a')
    await subscribeTo(broker, 'match=b')
    expect(await figures()).toEqual([2, 2, 0, 0])
    await publishTo(broker, { topic: 'a' })
    await publishTo(broker, { topic: '*' })
    stream.close()
    await vi.waitFor(async () => expect(await figures()).toEqual([1, 2, 1, 0]))
  })
})

describe('row 65: logs', () => {
  it('A13: hold no token, no data and no query of a full session', async () => {
    const broker = await brokerWith({ MERCURE_SUBSCRIPTIONS: 'true', MERCURE_ANONYMOUS: 'false' })
    const token = subscriberToken(['*'])
    const publisher = publisherToken()
    const stream = await subscribeTo(broker, 'match=a', bearer(token))
    await publishTo(broker, { topic: 'a', data: 'confidential-data', private: 'on' })
    expect((await stream.next()).data).toBe('confidential-data')
    await subscribeTo(broker, `match=a&token=${token}`)
    await subscribeTo(broker, 'match=a', bearer(subscriberToken(['*'], { exp: 1 })))
    await fetch(`${broker.url}${HUB}/subscriptions`, { headers: bearer(token) })
    stream.close()
    await vi.waitFor(() => expect(broker.lines.join('')).toContain('"aborted":true'))
    const log = broker.lines.join('')
    for (const secret of [
      token,
      publisher,
      ...token.split('.'),
      'confidential-data',
      'match=a',
      '?',
    ]) {
      expect(log).not.toContain(secret)
    }
    // The reason of a refusal is there for the operator.
    expect(log).toContain('hub token refused')
    expect(log).toMatch(/"reason":"[^"]*exp/)
  })
})

describe('the hub behind the gate', () => {
  it('guards itself: with JWT on it takes its own tokens and nobody else’s', async () => {
    const broker = await brokerWith({ ...JWT_ON, MERCURE_ANONYMOUS: 'false' })
    const stream = await subscribeTo(broker, 'match=a', bearer(subscriberToken()))
    expect(stream.response.status).toBe(200)
    expect((await publishTo(broker, { topic: 'a', id: '1' })).status).toBe(200)
    expect((await stream.next()).id).toBe('1')
    const roleToken = mint({ claims: { role: 'admin', exp: undefined, iat: undefined } })
    expect((await subscribeTo(broker, 'match=a', bearer(roleToken))).response.status).toBe(401)
    const queue = await broker.call('POST /api/v1/push', { token: publisherToken(), json: {} })
    expect(queue.status).toBe(401)
  })

  it('answers QUERY and HEAD through the whole broker', async () => {
    const broker = await brokerWith(JWT_ON)
    const head = await fetch(`${broker.url}${HUB}?match=a`, { method: 'HEAD' })
    expect(head.status).toBe(200)
    const query = await rawRequest(broker.port, {
      method: 'QUERY',
      target: HUB,
      headers: ['Content-Type: application/x-www-form-urlencoded'],
      body: 'matches=a',
    })
    expect(query.status).toBe(400)
  })

  it('has its own CORS rules', async () => {
    const broker = await brokerWith({ MERCURE_CORS_ORIGINS: 'https://a.example' })
    const headers = { Origin: 'https://b.example', 'Access-Control-Request-Method': 'POST' }
    const preflight = await fetch(`${broker.url}${HUB}`, { method: 'OPTIONS', headers })
    expect(preflight.status).toBe(204)
    expect(preflight.headers.get('access-control-allow-origin')).toBeNull()
  })

  it('that is off is 404 on every path', async () => {
    const broker = await startTestBroker()
    onTestFinished(() => broker.stop())
    for (const path of [
      HUB,
      `${HUB}/subscriptions`,
      `${HUB}/debug/`,
      `/.well-known/oauth-protected-resource${HUB}`,
    ]) {
      expect((await fetch(`${broker.url}${path}`)).status).toBe(404)
    }
    expect((await fetch(`${broker.url}/playground/x.json`)).status).toBe(404)
  })

  it('other spellings of its paths meet the gate', async () => {
    const broker = await brokerWith(JWT_ON)
    for (const target of [
      `/x/..${HUB}?match=a`,
      '//.well-known/mercure?match=a',
      `${HUB}/?match=a`,
    ]) {
      const { status } = await rawRequest(broker.port, { target })
      expect([401, 404]).toContain(status)
    }
  })

  it('believes X-Forwarded headers of a trusted proxy', async () => {
    const env = { MERCURE_RESOURCE_IDENTIFIER: '', TRUST_PROXY: 'loopback' }
    const broker = await brokerWith(env)
    const headers = { 'X-Forwarded-Proto': 'https', 'X-Forwarded-Host': 'hub.shop.example' }
    const response = await fetch(`${broker.url}/.well-known/oauth-protected-resource${HUB}`, {
      headers,
    })
    expect(await response.json()).toMatchObject({
      resource: 'https://hub.shop.example/.well-known/mercure',
    })
  })
})
