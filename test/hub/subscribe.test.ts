import { describe, expect, it } from 'vitest'
import { publish, type RunningHub, startHub } from '../support/hub/hub.ts'
import { openRaw } from '../support/hub/raw-stream.ts'
import { subscribe } from '../support/hub/stream.ts'
import { subscriberToken } from '../support/hub/tokens.ts'
import { rawRequest } from '../support/raw-request.ts'

const anonymousHub = () => startHub({ settings: { anonymous: true } })
const HUB = '/.well-known/mercure'

/** The status of a subscribe request; a stream that opens is left at once. */
async function statusOf(hub: RunningHub, query: string): Promise<number> {
  const stream = await subscribe(hub, query)
  stream.close()
  return stream.response.status
}

describe('row 25: the names of matcher parameters', () => {
  it.each([
    'MATCH=a',
    'Match=a',
    'matchurlpattern=a',
    'match_exactly=a',
    'match_URLPattern=a',
    'match[]=a',
    'matches=a',
    'matchRegexp=a',
    'topic=a',
    'm%61tches=a',
    'MATCH_EXACT=a',
  ])('%s is 400, beside a good matcher too', async (query) => {
    const hub = await anonymousHub()
    expect(await statusOf(hub, query)).toBe(400)
    expect(await statusOf(hub, `match=a&${query}`)).toBe(400)
  })

  it.each([
    'match=a',
    'match_exact=a',
    'match_urlpattern=a',
    'm%61tch=a',
    'match=a&other=b&Topic=c',
  ])('%s works', async (query) => {
    expect(await statusOf(await anonymousHub(), query)).toBe(200)
  })

  it('none at all is 400', async () => {
    const hub = await anonymousHub()
    expect(await statusOf(hub, '')).toBe(400)
    expect(await statusOf(hub, 'last_event_id=x&x=y')).toBe(400)
  })

  it('are read by form rules: + is a space, ; is a character, a stray % is literal', async () => {
    const hub = await anonymousHub()
    const stream = await subscribe(hub, 'match=a+b;c%')
    await publish(hub, { topic: 'a b;c%', id: '1' })
    expect((await stream.next()).id).toBe('1')
  })

  it('__proto__ and constructor are ordinary topics', async () => {
    const hub = await anonymousHub()
    const stream = await subscribe(hub, 'match=__proto__&match=constructor')
    await publish(hub, { topic: '__proto__', id: '1' })
    await publish(hub, { topic: 'constructor', id: '2' })
    expect((await stream.take(2)).map(({ id }) => id)).toEqual(['1', '2'])
  })
})

describe('row 26, H8: the limits of matchers', () => {
  it('100 are taken, 101 are 400, all names together, equal ones counted', async () => {
    const hub = await anonymousHub()
    const many = (count: number) =>
      Array.from({ length: count }, (_, at) => ['match', 'match_exact', 'match_urlpattern'][at % 3])
        .map((name) => `${name}=a`)
        .join('&')
    expect(await statusOf(hub, many(100))).toBe(200)
    expect(await statusOf(hub, many(101))).toBe(400)
  })

  it('4096 bytes are taken, 4097 are 400, counted in UTF-8', async () => {
    const hub = await anonymousHub()
    expect(await statusOf(hub, `match=${'x'.repeat(4096)}`)).toBe(200)
    expect(await statusOf(hub, `match=${'x'.repeat(4097)}`)).toBe(400)
    expect(await statusOf(hub, `match=${encodeURIComponent('é'.repeat(2048))}`)).toBe(200)
    expect(await statusOf(hub, `match=${encodeURIComponent('é'.repeat(2049))}`)).toBe(400)
  })

  it('an empty value is legal and matches nothing', async () => {
    expect(await statusOf(await anonymousHub(), 'match=')).toBe(200)
  })

  it('a request of a hundred long matchers fits into its head', async () => {
    const hub = await anonymousHub()
    const query = Array.from({ length: 100 }, (_, at) => `match=${at}${'x'.repeat(500)}`).join('&')
    expect(await statusOf(hub, query)).toBe(200)
  })
})

describe('row 27: a pattern that cannot be used', () => {
  it.each(['/(unclosed', '{unclosed', 'https://shop.example/[('])(
    'H12: %s is 400 with a text that does not come from a compiler',
    async (pattern) => {
      const hub = await anonymousHub()
      const query = `match_urlpattern=${encodeURIComponent(pattern)}`
      const response = await fetch(`${hub.url}?${query}`)
      expect(response.status).toBe(400)
      expect(response.headers.get('content-type')).toBe('text/plain; charset=utf-8')
      expect(await response.text()).toBe('match_urlpattern: invalid pattern')
    },
  )
})

describe('row 44: characters that a matcher must not hold', () => {
  it.each([
    '%00',
    '%0A',
    '%7F',
    '%C2%85',
    '%E2%80%8B',
    '%E2%80%AE',
    '%EF%BB%BF',
    '%FF',
    '%ED%A0%80',
  ])('H4: %s is 400', async (character) => {
    const hub = await anonymousHub()
    expect(await statusOf(hub, `match=a${character}b`)).toBe(400)
    expect(await statusOf(hub, `match_urlpattern=/a${character}b`)).toBe(400)
  })

  it('raw bytes that are no UTF-8 in the query are 400', async () => {
    const hub = await anonymousHub()
    const lines = [`GET ${HUB}?match=\xff HTTP/1.1`, 'Host: x', 'Connection: close', '', '']
    const stream = openRaw(hub.port, [])
    stream.socket.write(Buffer.from(lines.join('\r\n'), 'latin1'))
    expect(await stream.until('HTTP/1.1 400')).toContain('400')
  })
})

describe('rows 29 and 30: matching', () => {
  let hub: RunningHub

  it('row 29: exact matchers compare whole strings byte for byte', async () => {
    hub = await anonymousHub()
    const matchers = [
      'https://shop.example/a',
      'https://shop.example/{id}',
      'https://shop.example/*',
    ]
    const query = matchers.map((text) => `match=${encodeURIComponent(text)}`).join('&')
    const stream = await subscribe(hub, query)
    const topics = ['https://SHOP.example/a', 'https://shop.example/a/', 'https://shop.example/7']
    for (const topic of topics) await publish(hub, { topic, id: 'wrong' })
    await publish(hub, { topic: 'https://shop.example/{id}', id: 'literal' })
    expect((await stream.next()).id).toBe('literal')
  })

  it.each(['match=*', 'match_exact=*', 'match_urlpattern=*'])(
    'row 30, H13: %s receives a urn, a plain string and a URL',
    async (query) => {
      hub = await anonymousHub()
      const stream = await subscribe(hub, query)
      for (const topic of ['urn:x:1', 'plain text', 'https://shop.example/a']) {
        await publish(hub, { topic, data: topic })
      }
      const data = (await stream.take(3)).map((event) => event.data)
      expect(data).toEqual(['urn:x:1', 'plain text', 'https://shop.example/a'])
    },
  )

  it('parameters combine with OR, and an update comes once however many match', async () => {
    hub = await anonymousHub()
    const stream = await subscribe(hub, 'match=a&match=b&match_urlpattern=/.well-known/:x&match=*')
    await publish(hub, { topic: ['a', 'b'], id: '1' })
    await publish(hub, { topic: 'b', id: '2' })
    expect((await stream.take(2)).map(({ id }) => id)).toEqual(['1', '2'])
  })
})

describe('the order of checks of a subscribe request', () => {
  it('a bad token and bad parameters are 401, no token and no matcher too', async () => {
    const hub = await startHub()
    const bad = await subscribe(hub, 'matches=x', { token: 'x'.repeat(50) })
    expect(bad.response.status).toBe(401)
    expect(await statusOf(hub, '')).toBe(401)
  })

  it('with a good token the parameters are looked at', async () => {
    const hub = await startHub()
    const stream = await subscribe(hub, 'matches=x', { token: subscriberToken() })
    expect(stream.response.status).toBe(400)
  })

  it('a hub that is closing takes nobody: 503', async () => {
    const hub = await anonymousHub()
    await hub.hub.close()
    expect(await statusOf(hub, 'match=a')).toBe(503)
  })
})

describe('QUERY', () => {
  const query = (
    hub: RunningHub,
    target: string,
    body: string,
    type = 'application/x-www-form-urlencoded',
  ) => {
    const lines = [
      `QUERY ${target} HTTP/1.1`,
      'Host: x',
      `Content-Type: ${type}`,
      `Content-Length: ${Buffer.byteLength(body)}`,
    ]
    return openRaw(hub.port, lines, body)
  }

  it('unites the parameters of URL and body', async () => {
    const hub = await anonymousHub()
    const stream = query(hub, `${HUB}?match=a`, 'match=b')
    await stream.until(':\n\r\n')
    await publish(hub, { topic: 'a', id: 'one' })
    await publish(hub, { topic: 'b', id: 'two' })
    await stream.until('id: one')
    await stream.until('id: two')
  })

  it('takes a body alone, and needs a matcher like GET', async () => {
    const hub = await anonymousHub()
    await query(hub, HUB, 'match=b').until('200 OK')
    await query(hub, HUB, '').until('HTTP/1.1 400')
  })

  it('counts matchers of both, and refuses unknown names in the body', async () => {
    const hub = await anonymousHub()
    const fifty = Array.from({ length: 50 }, (_, at) => `match=${at}`).join('&')
    await query(hub, `${HUB}?${fifty}`, fifty).until('200 OK')
    await query(hub, `${HUB}?${fifty}&match=x`, fifty).until('HTTP/1.1 400')
    await query(hub, `${HUB}?match=a`, 'matches=b').until('HTTP/1.1 400')
  })

  it('refuses a body over the limit with 413 and one that is no form with 400', async () => {
    const hub = await startHub({ settings: { anonymous: true, maxRequestBodyBytes: 100 } })
    await query(hub, `${HUB}?match=a`, 'x'.repeat(101)).until('HTTP/1.1 413')
    await query(hub, `${HUB}?match=a`, '{"match":"b"}', 'application/json').until('HTTP/1.1 400')
    await query(hub, `${HUB}?match=a`, 'other=%FF').until('HTTP/1.1 400')
  })

  it('checks the body before the token', async () => {
    const hub = await startHub({ settings: { maxRequestBodyBytes: 100 } })
    await query(hub, `${HUB}?match=a`, 'x'.repeat(101)).until('HTTP/1.1 413')
    await query(hub, `${HUB}?match=a`, 'match=b').until('HTTP/1.1 401')
  })
})

describe('H37: too much of everything', () => {
  it('a huge cursor, URL or token is refused cleanly and the hub goes on', async () => {
    const hub = await anonymousHub()
    const huge = 'x'.repeat(70_000)
    const requests = [
      { target: `${HUB}?match=a`, headers: [`Last-Event-ID: ${huge}`] },
      { target: `${HUB}?match=${huge}` },
      { target: `${HUB}?match=a`, headers: [`Authorization: Bearer ${huge}`] },
    ]
    for (const request of requests) expect((await rawRequest(hub.port, request)).status).toBe(431)
    const token = {
      target: `${HUB}?match=a`,
      headers: [`Authorization: Bearer ${'x'.repeat(33_000)}`],
    }
    expect((await rawRequest(hub.port, token)).status).toBe(400)
    expect(await statusOf(hub, 'match=a')).toBe(200)
  })
})
