import { describe, expect, it } from 'vitest'
import { publish, type RunningHub, startHub } from '../support/hub/hub.ts'
import { openRaw } from '../support/hub/raw-stream.ts'
import { subscribe } from '../support/hub/stream.ts'
import { bearer, pattern, publisherToken } from '../support/hub/tokens.ts'

const anonymousHub = () => startHub({ settings: { anonymous: true } })
const HUB = '/.well-known/mercure'
const FORM = 'application/x-www-form-urlencoded'

function post(hub: RunningHub, body: string, headers: Readonly<Record<string, string>> = {}) {
  const all = { 'Content-Type': FORM, ...bearer(publisherToken()), ...headers }
  return fetch(hub.url, { method: 'POST', body, headers: all })
}

describe('row 38: the answer to a publication', () => {
  it('is 200, plain text, and exactly the given id', async () => {
    const response = await publish(await anonymousHub(), { topic: 'a', id: 'urn:x:ü' })
    expect(response.status).toBe(200)
    expect(response.headers.get('content-type')).toBe('text/plain; charset=utf-8')
    expect(await response.text()).toBe('urn:x:ü')
  })

  it('is a time-ordered UUID of the hub when none was given', async () => {
    const response = await publish(await anonymousHub(), { topic: 'a', id: '' })
    expect(await response.text()).toMatch(
      /^urn:uuid:[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/,
    )
  })

  it('is the same for an id that was used before: a resent request publishes again', async () => {
    const hub = await anonymousHub()
    const stream = await subscribe(hub, 'match=a')
    for (const data of ['first', 'second']) {
      expect(await (await publish(hub, { topic: 'a', id: 'same', data })).text()).toBe('same')
    }
    expect((await stream.take(2)).map(({ data }) => data)).toEqual(['first', 'second'])
  })
})

describe('row 39: what a publication may look like', () => {
  it.each([
    ['another media type', { 'Content-Type': 'application/json' }, 'topic=a'],
    ['multipart', { 'Content-Type': 'multipart/form-data; boundary=x' }, 'topic=a'],
    ['an unparsable media type', { 'Content-Type': `${FORM}; =;` }, 'topic=a'],
    ['text', { 'Content-Type': 'text/plain' }, 'topic=a'],
    ['no topic', {}, 'data=x'],
    ['an empty body', {}, ''],
    ['a retry that is no number', {}, 'topic=a&retry=soon'],
  ])('%s is 400', async (_name, headers, body) => {
    const response = await post(await anonymousHub(), body, headers)
    expect(response.status).toBe(400)
    expect(response.headers.get('content-type')).toBe('text/plain; charset=utf-8')
    expect(response.headers.get('www-authenticate')).toBeNull()
  })

  it('a missing media type is 400', async () => {
    const hub = await anonymousHub()
    const lines = [`POST ${HUB} HTTP/1.1`, 'Host: x', 'Content-Length: 7', 'Connection: close']
    const stream = openRaw(
      hub.port,
      [...lines, `Authorization: Bearer ${publisherToken()}`],
      'topic=a',
    )
    expect(await stream.closed).toContain('HTTP/1.1 400 Bad Request')
  })

  it('fields of the query string are not publish fields, unknown fields are ignored', async () => {
    const hub = await anonymousHub()
    const stream = await subscribe(hub, 'match=a')
    const headers = { 'Content-Type': FORM, ...bearer(publisherToken()) }
    const url = `${hub.url}?id=query&private=on&topic=b`
    const body = 'topic=a&data=x&access_token=y&unknown=z'
    const response = await fetch(url, { method: 'POST', headers, body })
    expect(response.status).toBe(200)
    expect(await response.text()).toMatch(/^urn:uuid:/)
    expect((await stream.next()).data).toBe('x')
    expect((await fetch(url, { method: 'POST', headers, body: 'data=x' })).status).toBe(400)
  })

  it('; and a stray % in the body are literal', async () => {
    const hub = await anonymousHub()
    const stream = await subscribe(hub, 'match=a;b%25')
    expect((await post(hub, 'topic=a;b%&data=100%')).status).toBe(200)
    expect((await stream.next()).data).toBe('100%')
  })
})

describe('row 40: privacy by presence', () => {
  it.each(['private', 'private=', 'private=0', 'private=off'])('%s', async (field) => {
    const hub = await anonymousHub()
    const stream = await subscribe(hub, 'match=a')
    await post(hub, `topic=a&id=secret&${field}`)
    await post(hub, 'topic=a&id=open')
    expect((await stream.next()).id).toBe('open')
  })
})

describe('row 42: every topic has to be granted', () => {
  it.each([
    ['a topic in second place', ['a'], ['a', 'b']],
    ['the canonical one', ['b'], ['a', 'b']],
    ['any', ['c'], ['a']],
    ['one below a pattern that does not reach it', [pattern('/x/:y')], ['/x/1', '/x/1/2']],
  ])(
    'a token that does not cover %s is 403, for public updates too',
    async (_name, granted, topic) => {
      const hub = await anonymousHub()
      const stream = await subscribe(hub, 'match=*')
      const refused = await publish(hub, { topic, id: 'no' }, publisherToken(granted))
      expect(refused.status).toBe(403)
      expect(refused.headers.get('www-authenticate')).toMatch(
        /^Bearer error="insufficient_scope", resource/,
      )
      expect(await refused.text()).toBe('Forbidden')
      await publish(hub, { topic: 'a', id: 'yes' })
      expect((await stream.next()).id).toBe('yes')
    },
  )

  it('A23: a token without details publishes nothing', async () => {
    const hub = await anonymousHub()
    for (const details of [undefined, null, []]) {
      const token = publisherToken(['*'], { authorization_details: details })
      expect((await publish(hub, { topic: 'a' }, token)).status).toBe(403)
    }
  })

  it('H34: alternates keep their order and the first is the canonical one', async () => {
    const hub = await anonymousHub()
    const topics = Array.from({ length: 20 }, (_, at) => `t${19 - at}`)
    const token = publisherToken(topics)
    expect((await publish(hub, { topic: topics }, token)).status).toBe(200)
  })
})

describe('row 45: the size of a publication', () => {
  const bodyOf = (bytes: number) => `topic=a&data=${'x'.repeat(bytes - 'topic=a&data='.length)}`

  it('1 048 576 bytes are taken, one more is 413', async () => {
    const hub = await anonymousHub()
    expect((await post(hub, bodyOf(1_048_576))).status).toBe(200)
    const refused = await post(hub, bodyOf(1_048_577))
    expect(refused.status).toBe(413)
    expect(await refused.text()).toBe('Payload Too Large')
  })

  it('a body with a content coding is 415: read as plain it would be another message', async () => {
    const hub = await anonymousHub()
    const refused = await post(hub, bodyOf(100), { 'content-encoding': 'gzip' })
    expect([refused.status, refused.headers.get('accept-encoding')]).toEqual([415, 'identity'])
    expect((await post(hub, bodyOf(100), { 'content-encoding': 'identity' })).status).toBe(200)
  })

  it('a body of unstated length is refused once it is too long', async () => {
    const hub = await startHub({ settings: { maxRequestBodyBytes: 1000 } })
    const head = [
      `POST ${HUB} HTTP/1.1`,
      'Host: x',
      `Content-Type: ${FORM}`,
      'Transfer-Encoding: chunked',
      `Authorization: Bearer ${publisherToken()}`,
    ]
    const chunk = `3e8\r\n${'x'.repeat(1000)}\r\n`
    const stream = openRaw(hub.port, head, `${chunk}${chunk}`)
    await stream.until('HTTP/1.1 413')
    // The connection is still good: the rest of the body is read and thrown away.
    stream.socket.write(`${chunk}0\r\n\r\nGET /nowhere HTTP/1.1\r\nHost: x\r\n\r\n`)
    await stream.until('HTTP/1.1 404')
  })

  it('with the limit at 0 a larger one is taken', async () => {
    const hub = await startHub({ settings: { maxRequestBodyBytes: 0 } })
    expect((await post(hub, bodyOf(1_200_000))).status).toBe(200)
  })

  it('a large body without a token is 401, answered before it is read', async () => {
    const hub = await anonymousHub()
    const lines = [
      `POST ${HUB} HTTP/1.1`,
      'Host: x',
      `Content-Type: ${FORM}`,
      'Content-Length: 900000000',
    ]
    expect(await openRaw(hub.port, lines, 'topic=a').until('HTTP/1.1 401')).toContain('Bearer')
  })

  it('1000 topics are taken, 1001 are 413, whatever the token covers', async () => {
    const hub = await anonymousHub()
    const topics = (count: number) => Array.from({ length: count }, (_, at) => `t${at}`)
    expect((await publish(hub, { topic: topics(1000) })).status).toBe(200)
    expect((await publish(hub, { topic: topics(1001) }, publisherToken(['x']))).status).toBe(413)
  })
})

describe('the order of checks of a publication', () => {
  it.each([
    ['the token before the size', 'x'.repeat(30), {}, 401],
    ['the size before the form', 'x'.repeat(30), bearer(publisherToken([])), 413],
    ['the topics before the grants', 'topic=*', bearer(publisherToken(['x'])), 400],
    [
      'a reserved topic before the grants',
      'topic=/.well-known/mercure',
      bearer(publisherToken(['x'])),
      400,
    ],
    ['other fields before the grants', 'topic=a&retry=x', bearer(publisherToken(['x'])), 400],
    ['the grants last', 'topic=a', bearer(publisherToken(['x'])), 403],
  ])('is %s', async (_name, body, headers, status) => {
    const hub = await startHub({ settings: { maxRequestBodyBytes: 26 } })
    const fields = { 'Content-Type': FORM, ...headers }
    expect((await fetch(hub.url, { method: 'POST', body, headers: fields })).status).toBe(status)
  })
})

describe('H33: a store that fails', () => {
  it('gives a general text, counts the failure and logs the cause', async () => {
    const lines: unknown[] = []
    const note = (fields: object) => lines.push(fields)
    const failing = {
      open: () => Promise.resolve({ seq: 0, id: undefined }),
      append: () => Promise.reject(new Error('disk /var/lib/x is full')),
      locate: () => Promise.reject(new Error('disk /var/lib/x is full')),
      readAfter: () => Promise.reject(new Error('disk /var/lib/x is full')),
      close: () => Promise.resolve(),
    }
    const logger = { debug() {}, info() {}, warn() {}, error: note }
    const hub = await startHub({ settings: { anonymous: true }, store: failing, logger })
    const response = await publish(hub, { topic: 'a' })
    expect(response.status).toBe(500)
    expect(await response.text()).toBe('Internal Server Error')
    expect(JSON.stringify(lines, (_key, value) => String(value?.stack ?? value))).toBeDefined()
    expect(lines).toHaveLength(1)
    expect(await hub.registry.metrics()).toContain('mercure_updates_failed_total 1')
  })
})

describe('row 41: reserved topics', () => {
  it.each([
    '',
    'mercure',
    '/.well-known/mercure',
    'https://any.example/.well-known/mercure/s/x',
    '*',
  ])('%s is 400 whatever the token grants', async (topic) => {
    const hub = await anonymousHub()
    expect((await publish(hub, { topic })).status).toBe(400)
    expect((await publish(hub, { topic: ['a', topic] })).status).toBe(400)
    expect((await publish(hub, { topic }, publisherToken(['a']))).status).toBe(400)
  })

  it.each(['bar', '../mercure/x', '/.well-known/mercureX', 'urn:example:mercure', 'http://[bad'])(
    '%s is 200',
    async (topic) => {
      expect((await publish(await anonymousHub(), { topic })).status).toBe(200)
    },
  )
})
