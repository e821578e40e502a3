import { once } from 'node:events'
import net from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import { rawBytes, rawRequest } from '../support/raw-request.ts'
import { type FloorApp, startFloor } from './floor-app.ts'

let app: FloorApp | undefined
afterEach(() => app?.close())

const SHORT = { headTimeoutMs: 200, readTimeoutMs: 300, checkIntervalMs: 50 }

async function untilClosed(socket: net.Socket): Promise<string> {
  let text = ''
  socket.on('data', (chunk) => {
    text += chunk.toString('latin1')
  })
  socket.on('error', () => {})
  await once(socket, 'close')
  return text
}

describe('the listener', () => {
  it.each([
    ['no Host', 'GET /items/a HTTP/1.1\r\n'],
    ['two Hosts', 'GET /items/a HTTP/1.1\r\nHost: a\r\nhOST: b\r\n'],
    ['the same Host twice', 'GET /items/a HTTP/1.1\r\nHost: a\r\nHost: a\r\n'],
  ])('refuses a request with %s, in the form of every other refusal', async (_name, head) => {
    app = await startFloor({})
    const answer = await rawBytes(app.port, `${head}\r\n`)
    expect([answer.status, answer.body]).toEqual([400, '{"error":"Bad Request"}'])
  })

  it('takes HTTP/1.0 without a Host', async () => {
    app = await startFloor({})
    expect((await rawBytes(app.port, 'GET /items/a HTTP/1.0\r\n\r\n')).status).not.toBe(400)
  })

  it('refuses an expectation it does not know with 417', async () => {
    app = await startFloor({})
    const answer = await rawBytes(
      app.port,
      'POST /echo HTTP/1.1\r\nHost: a\r\nExpect: a-miracle\r\nContent-Length: 2\r\n\r\n{}',
    )
    expect([answer.status, answer.body]).toEqual([417, '{"error":"Expectation Failed"}'])
  })

  it.each([
    ['refused before it is read', '/refused', 2, /^HTTP\/1\.1 401 /],
    ['announced as too long', '/echo', 1_000_001, /^HTTP\/1\.1 413 /],
  ])(
    'never asks a client that waits for a body that is %s',
    async (_name, path, length, answer) => {
      app = await startFloor({
        routes: (on) => on.post('/refused', (_req, res) => res.status(401).end()),
      })
      const socket = net.connect(app.port, '127.0.0.1')
      socket.write(
        `POST ${path} HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: ${length}\r\n\r\n`,
      )
      // The connection ends too: what comes next on it could be the body or another request.
      const text = await untilClosed(socket)
      expect(text).toMatch(answer)
      expect(text).not.toContain('100 Continue')
    },
  )

  it('asks a client that waits for its body when the body is read', async () => {
    app = await startFloor()
    const socket = net.connect(app.port, '127.0.0.1')
    socket.write(
      'POST /echo HTTP/1.1\r\nHost: a\r\nConnection: close\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n',
    )
    const [first] = await once(socket, 'data')
    expect(String(first)).toBe('HTTP/1.1 100 Continue\r\n\r\n')
    socket.write('{}')
    const text = await untilClosed(socket)
    expect(text).toMatch(/^HTTP\/1\.1 200 /)
    expect(text).toContain('{"got":{}}')
  })

  it.each(['http://[bad/items/a', 'http://x:99999/items/a', 'http://a b', 'https://[::1'])(
    'answers 400 in JSON to a target that is no URL: %s',
    async (target) => {
      app = await startFloor()
      const { status, body, header } = await rawRequest(app.port, { target })
      expect([status, body]).toEqual([400, '{"error":"Bad Request"}'])
      expect(header('content-type')).toBe('application/json')
    },
  )

  it('reads the path of an absolute target', async () => {
    app = await startFloor()
    expect((await rawRequest(app.port, { target: 'http://y.example/items/a' })).status).toBe(200)
  })

  it('gives up a client that never finishes the head of its request', async () => {
    app = await startFloor({ limits: SHORT })
    const socket = net.connect(app.port, '127.0.0.1')
    socket.write('GET /items/a HTTP/1.1\r\nHost: x\r\n')
    const text = await untilClosed(socket)
    expect(text).toMatch(/^HTTP\/1\.1 408 /)
    expect(text).toContain('{"error":"Request Timeout"}')
  })

  it('gives up a client that never finishes its body', async () => {
    app = await startFloor({ limits: SHORT })
    const socket = net.connect(app.port, '127.0.0.1')
    socket.write('POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{')
    expect(await untilClosed(socket)).toMatch(/^HTTP\/1\.1 408 /)
  })

  it('never cuts a request that waits for its answer longer than those limits', async () => {
    app = await startFloor({
      limits: SHORT,
      routes: (on) => on.get('/poll', (_req, res) => setTimeout(() => res.end('late'), 1000)),
    })
    expect(await (await fetch(`${app.url}/poll`)).text()).toBe('late')
  })

  it('cuts a client that stops reading its answer', async () => {
    app = await startFloor({
      limits: { writeStallMs: 200 },
      routes: (on) => on.get('/large', (_req, res) => res.end('x'.repeat(50_000_000))),
    })
    const socket = net.connect(app.port, '127.0.0.1')
    await once(socket, 'connect')
    socket.write('GET /large HTTP/1.1\r\nHost: x\r\n\r\n')
    socket.pause()
    while (!app.lines.some((line) => line.includes('"aborted":true'))) {
      await new Promise((resolve) => setImmediate(resolve))
    }
    socket.destroy()
  })

  it('takes 60 KiB of headers and answers 431 above 64 KiB', async () => {
    app = await startFloor()
    const fits = await rawRequest(app.port, {
      target: '/items/a',
      headers: [`X-Large: ${'x'.repeat(61_440)}`],
    })
    expect(fits.status).toBe(200)
    const over = await rawRequest(app.port, {
      target: '/items/a',
      headers: [`X-Large: ${'x'.repeat(66_000)}`],
    })
    expect([over.status, over.body]).toEqual([431, '{"error":"Headers too large"}'])
  })

  it.each([
    'NONSENSE\r\n\r\n',
    'GET / HTTP/9.9\r\n\r\n',
    'GET /a b HTTP/1.1\r\n\r\n',
    '\u0000\u0001\r\n\r\n',
  ])('answers %j with 400 in the shape of every error', async (bytes) => {
    app = await startFloor()
    const answer = await rawBytes(app.port, bytes)
    expect([answer.status, answer.body]).toEqual([400, '{"error":"Bad Request"}'])
  })

  it('answers an expectation that it does not know with 417', async () => {
    app = await startFloor()
    const answer = await rawRequest(app.port, { target: '/items/a', headers: ['Expect: wonders'] })
    expect([answer.status, answer.body]).toEqual([417, '{"error":"Expectation Failed"}'])
  })

  it('writes no second answer into one that has begun', async () => {
    app = await startFloor({
      routes: (on) =>
        on.get('/stream', (_req, res) => {
          res.write('first')
        }),
    })
    const answer = await rawBytes(
      app.port,
      'GET /stream HTTP/1.1\r\nHost: x\r\n\r\nNONSENSE\r\n\r\n',
    )
    expect(answer.status === 0 || !answer.body.includes('Bad Request')).toBe(true)
  })

  it('keeps serving after a client that resets in the middle of a body', async () => {
    app = await startFloor()
    const socket = net.connect(app.port, '127.0.0.1')
    await once(socket, 'connect')
    socket.write('POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{', () =>
      socket.resetAndDestroy(),
    )
    await once(socket, 'close')
    expect((await rawRequest(app.port, { target: '/items/a' })).status).toBe(200)
  })
})
