import { afterEach, describe, expect, it, vi } from 'vitest'
import { publish, type RunningHub, startHub } from '../support/hub/hub.ts'
import { openRaw, unchunked } from '../support/hub/raw-stream.ts'
import { subscribe } from '../support/hub/stream.ts'
import { publisherToken, subscriberToken } from '../support/hub/tokens.ts'

const ANONYMOUS = { anonymous: true }

function rawGet(hub: RunningHub, query: string, ...fields: readonly string[]) {
  const line = `GET /.well-known/mercure?${query} HTTP/1.1`
  return openRaw(hub.port, [line, 'Host: hub.shop.example', ...fields])
}

function fieldsOf(head: string): ReadonlyMap<string, string> {
  const lines = head.slice(0, head.indexOf('\r\n\r\n')).split('\r\n').slice(1)
  return new Map(
    lines.map((line) => {
      const [name = '', ...value] = line.split(': ')
      return [name.toLowerCase(), value.join(': ')]
    }),
  )
}

describe('row 32: the head of a stream and its first comment', () => {
  it('come before any update, with the fields of the protocol and the two bytes ":" LF', async () => {
    const hub = await startHub({ settings: ANONYMOUS })
    const stream = rawGet(hub, 'match=a')
    const text = await stream.until(':\n\r\n')
    expect(text).toMatch(/^HTTP\/1\.1 200 OK\r\n/)
    expect(unchunked(text)).toBe(':\n')
    const fields = fieldsOf(text)
    expect(Object.fromEntries(fields)).toMatchObject({
      'content-type': 'text/event-stream',
      'cache-control': 'private, no-cache, no-store, must-revalidate, max-age=0, no-transform',
      pragma: 'no-cache',
      expires: '0',
      'x-accel-buffering': 'no',
      connection: 'keep-alive',
      'x-content-type-options': 'nosniff',
      'x-frame-options': 'DENY',
      'x-xss-protection': '1; mode=block',
      'content-security-policy': "default-src 'self'",
    })
    expect(fields.has('mercure-last-event-id')).toBe(false)
    expect(fields.has('content-encoding')).toBe(false)
  })

  it('A40: are the same for a client that accepts gzip', async () => {
    const hub = await startHub({ settings: ANONYMOUS })
    const text = await rawGet(hub, 'match=a', 'Accept-Encoding: gzip, br').until(':\n\r\n')
    expect(fieldsOf(text).has('content-encoding')).toBe(false)
  })

  it('HEAD gets the same fields, no body, and registers nobody', async () => {
    const hub = await startHub({ settings: ANONYMOUS })
    const lines = ['HEAD /.well-known/mercure?match=a HTTP/1.1', 'Host: x', 'Connection: close']
    const text = await openRaw(hub.port, lines).closed
    expect(text).toMatch(/^HTTP\/1\.1 200 OK\r\n/)
    expect(fieldsOf(text).get('content-type')).toBe('text/event-stream')
    expect(text.endsWith('\r\n\r\n')).toBe(true)
    expect(hub.hub.health().subscribers).toBe(0)
  })

  it('an HTTP/1.0 client gets an unchunked stream', async () => {
    const hub = await startHub({ settings: ANONYMOUS })
    const stream = openRaw(hub.port, ['GET /.well-known/mercure?match=a HTTP/1.0', 'Host: x'])
    const text = await stream.until('\r\n\r\n:\n')
    expect(fieldsOf(text).get('connection')).not.toBe('keep-alive')
  })
})

describe('row 33: the bytes of an event', () => {
  it('are exact, with type, retry, id and three kinds of line end', async () => {
    const hub = await startHub({ settings: ANONYMOUS })
    const stream = rawGet(hub, 'match=a')
    await stream.until(':\n')
    const data = '{"sku": 4,\r\n "left": 12}\rmid\n\nend\u2028x'
    await publish(hub, { topic: 'a', type: 'stock', retry: '002500', id: 'urn:x:1', data })
    await publish(hub, { topic: 'a', id: 'urn:x:2', retry: '0' })
    const text = await stream.until('id: urn:x:2\ndata: \n\n')
    expect(Buffer.from(unchunked(text), 'latin1').toString()).toBe(
      ':\nevent: stock\nretry: 2500\nid: urn:x:1\ndata: {"sku": 4,\ndata:  "left": 12}\ndata: mid\n' +
        'data: \ndata: end\u2028x\n\nid: urn:x:2\ndata: \n\n',
    )
  })
})

describe('row 34: heartbeats', () => {
  afterEach(() => {
    vi.useRealTimers()
  })

  it('come after a silence of that length, and an update restarts the interval', async () => {
    const hub = await startHub({ settings: { ...ANONYMOUS, heartbeatMs: 40_000 } })
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    const stream = rawGet(hub, 'match=a')
    await stream.until(':\n\r\n')
    vi.advanceTimersByTime(39_999)
    await publish(hub, { topic: 'a', id: '1' })
    await stream.until('id: 1\n')
    vi.advanceTimersByTime(39_999)
    await publish(hub, { topic: 'a', id: '2' })
    expect(unchunked(await stream.until('id: 2\n'))).not.toContain('\n:\n')
    vi.advanceTimersByTime(40_000)
    await stream.until('data: \n\n\r\n2\r\n:\n')
    vi.advanceTimersByTime(40_000)
    await stream.until(':\n\r\n2\r\n:\n')
  })

  it('do not come with the setting at 0', async () => {
    const hub = await startHub({ settings: { ...ANONYMOUS, heartbeatMs: 0 } })
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    const stream = rawGet(hub, 'match=a')
    await stream.until(':\n\r\n')
    expect(vi.getTimerCount()).toBe(0)
  })

  it('A41: leave no timer behind when the client has gone', async () => {
    const hub = await startHub({
      settings: { ...ANONYMOUS, heartbeatMs: 40_000, writeTimeoutMs: 600_000 },
    })
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    const stream = rawGet(hub, 'match=a')
    await stream.until(':\n\r\n')
    expect(vi.getTimerCount()).toBe(2)
    stream.socket.destroy()
    await vi.waitFor(() => expect(hub.hub.health().subscribers).toBe(0))
    expect(vi.getTimerCount()).toBe(0)
  })
})

describe('row 35: the stream ends at exp', () => {
  const inTwoSeconds = () => ({ exp: Date.now() / 1000 + 2 })

  it('H27: with all timers off, not at once and not later', async () => {
    const hub = await startHub()
    const claims = inTwoSeconds()
    const stream = await subscribe(hub, 'match=a', { token: subscriberToken(['*'], claims) })
    await publish(hub, { topic: 'a', id: '1' })
    expect((await stream.next()).id).toBe('1')
    await stream.ended
    const lateMs = Date.now() - claims.exp * 1000
    expect(lateMs).toBeGreaterThan(-1000)
    expect(hub.hub.health().subscribers).toBe(0)
  })

  it('H28: a token with less life than the dispatch timeout gets all of it', async () => {
    const hub = await startHub({ settings: { dispatchTimeoutMs: 5000 } })
    const claims = inTwoSeconds()
    const stream = await subscribe(hub, 'match=a', { token: subscriberToken(['*'], claims) })
    await stream.ended
    expect(Date.now()).toBeGreaterThanOrEqual(claims.exp * 1000 - 50)
  })

  it('A05: nothing is sent after exp even if the timer has not fired, and a reconnect is 401', async () => {
    let skewMs = 0
    const hub = await startHub({ clock: { now: () => Date.now() + skewMs } })
    const token = subscriberToken()
    const longLived = publisherToken(['*'], { exp: Date.now() / 1000 + 36_000 })
    const stream = await subscribe(hub, 'match=a', { token })
    await publish(hub, { topic: 'a', id: 'before' }, longLived)
    expect((await stream.next()).id).toBe('before')
    skewMs = 3600 * 1000
    expect((await publish(hub, { topic: 'a', id: 'after' }, longLived)).status).toBe(200)
    await stream.ended
    expect(stream.waiting).toEqual([])
    const again = await subscribe(hub, 'match=a', { token })
    expect(again.response.status).toBe(401)
    expect(again.response.headers.get('content-type')).not.toContain('event-stream')
  })

  it('an anonymous connection has no such end', async () => {
    const hub = await startHub({ settings: ANONYMOUS })
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    await rawGet(hub, 'match=a').until(':\n\r\n')
    expect(vi.getTimerCount()).toBe(0)
    vi.useRealTimers()
  })
})

describe('row 36: the write timeout', () => {
  it('ends the stream in order between 80 and 100 % of it', async () => {
    const hub = await startHub({ settings: { ...ANONYMOUS, writeTimeoutMs: 1000 } })
    const openedMs = performance.now()
    const stream = rawGet(hub, 'match=a', 'Connection: close')
    const text = await stream.closed
    // How late a timer is depends on the machine; that it is not early does not.
    expect(performance.now() - openedMs).toBeGreaterThanOrEqual(790)
    expect(text.endsWith('0\r\n\r\n')).toBe(true)
  })
})

describe('a connection that ends', () => {
  it('A14: frees its slot, two hundred times', async () => {
    const hub = await startHub({ settings: ANONYMOUS })
    for (let round = 0; round < 4; round += 1) {
      const streams = Array.from({ length: 50 }, (_, at) => rawGet(hub, `match=${at}`))
      await Promise.all(streams.map((stream) => stream.until(':\n\r\n')))
      expect(hub.hub.health().subscribers).toBe(50)
      for (const stream of streams) stream.socket.destroy()
      await vi.waitFor(() => expect(hub.hub.health().subscribers).toBe(0))
    }
  })

  it('by the client half way through its request is taken note of', async () => {
    const hub = await startHub({ settings: ANONYMOUS })
    const stream = rawGet(hub, 'match=a')
    stream.socket.end()
    await stream.closed
    await vi.waitFor(() => expect(hub.hub.health().subscribers).toBe(0))
  })
})
