import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { nestsDeeperThan } from '../../src/http/nesting.ts'
import { rawBytes, rawRequest } from '../support/raw-request.ts'
import { type FloorApp, startFloor } from './floor-app.ts'

let app: FloorApp
beforeAll(async () => {
  app = await startFloor({ maxBodyBytes: 10_000 })
})
afterAll(() => app.close())

async function echo(body: string | Uint8Array<ArrayBuffer>, headers: Record<string, string> = {}) {
  const answer = await fetch(`${app.url}/echo`, {
    method: 'POST',
    body,
    headers: { 'content-type': 'application/json', ...headers },
  })
  return { status: answer.status, body: await answer.json() }
}

const nested = (levels: number) => '['.repeat(levels) + ']'.repeat(levels)

describe('reading a JSON body', () => {
  it.each(['1e999', '-1e999', '[1,2E+400]', `{"a": 1${'0'.repeat(400)}}`, '{"a":1.5e0000309}'])(
    'refuses %s, which would be stored as null',
    async (number) => {
      expect(await echo(`{"n":${number}}`)).toEqual({
        status: 400,
        body: { error: 'A number in the body is beyond the range of a double' },
      })
    },
  )

  it('takes the largest doubles, the smallest, and text that looks like a number', async () => {
    const text = `{"n":[1.7976931348623157e308,-1e308,1e-999,1e00001],"s":":1e999","d":"${'1'.repeat(400)}"}`
    expect(await echo(text)).toEqual({ status: 200, body: { got: JSON.parse(text) } })
  })

  it('gives the value, whatever media type is claimed', async () => {
    for (const type of ['application/json', 'text/plain', 'application/x-www-form-urlencoded']) {
      expect(await echo('{"a":[1]}', { 'content-type': type })).toEqual({
        status: 200,
        body: { got: { a: [1] } },
      })
    }
  })

  it.each([
    ['no body at all', []],
    ['an empty body', ['Content-Length: 0']],
    ['an empty body in chunks', ['Transfer-Encoding: chunked']],
  ])('takes %s as nothing', async (_name, headers) => {
    const chunks = headers[0]?.startsWith('Transfer') ? '0\r\n\r\n' : ''
    const bytes = ['POST /echo HTTP/1.1', 'Host: x', 'Connection: close', ...headers, '', chunks]
    const answer = await rawBytes(app.port, bytes.join('\r\n'))
    expect(answer.status).toBe(200)
    expect(answer.body).toBe('{"got":"nothing"}')
  })

  it('reads a body that comes in many pieces', async () => {
    const pieces = ['{"a', '":"', 'ü', '"}'].map((text) => {
      const bytes = Buffer.from(text)
      return Buffer.concat([
        Buffer.from(`${bytes.length.toString(16)}\r\n`),
        bytes,
        Buffer.from('\r\n'),
      ])
    })
    const head =
      'POST /echo HTTP/1.1\r\nHost: x\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n'
    const answer = await rawBytes(
      app.port,
      Buffer.concat([Buffer.from(head), ...pieces, Buffer.from('0\r\n\r\n')]),
    )
    expect(answer.status).toBe(200)
    expect(answer.body).toBe(Buffer.from('{"got":{"a":"ü"}}').toString('latin1'))
  })

  it('drops a byte order mark', async () => {
    expect(await echo('\ufeff{"a":1}')).toEqual({ status: 200, body: { got: { a: 1 } } })
  })

  it.each([
    ['gzip', gzipSync],
    ['deflate', deflateSync],
    ['br', brotliCompressSync],
  ])('unpacks %s', async (encoding, pack) => {
    const answer = await echo(new Uint8Array(pack('{"a":1}')), { 'content-encoding': encoding })
    expect(answer).toEqual({ status: 200, body: { got: { a: 1 } } })
  })

  it.each([
    '{',
    '{"a":1',
    "{'a':1}",
    '{"a":1}}',
    'undefined',
    'NaN',
    '01',
    '"a\nb"',
    '[1,]',
    ' ',
    '{"a":1}\u0000',
  ])('refuses %j as malformed', async (text) => {
    expect(await echo(text)).toEqual({
      status: 400,
      body: { error: 'The body is not valid JSON' },
    })
  })

  it.each([
    ['bytes that are no UTF-8', Buffer.from([0x22, 0xff, 0x22]), {}],
    ['an overlong form', Buffer.from([0x22, 0xc0, 0xaf, 0x22]), {}],
    [
      'UTF-16',
      Buffer.from('{}', 'utf16le'),
      { 'content-type': 'application/json; charset=utf-16' },
    ],
    ['a quoted foreign charset', '{}', { 'content-type': 'application/json; charset="latin1"' }],
  ])('refuses %s', async (_name, body, headers) => {
    const sent = typeof body === 'string' ? body : new Uint8Array(body)
    expect((await echo(sent, headers)).status).toBe(400)
  })

  it.each([
    ['an unknown content encoding', '{}', 'zip'],
    ['a body that is not in the encoding it claims', '{}', 'gzip'],
    ['two encodings', '{}', 'gzip, br'],
  ])('refuses %s', async (_name, body, encoding) => {
    const answer = await echo(body, { 'content-encoding': encoding })
    expect(answer.status).toBe(400)
    expect(answer.body).toEqual({ error: 'The content encoding of the body cannot be read' })
  })

  it('takes exactly the largest size and refuses one byte more', async () => {
    const filled = (size: number) => `"${'x'.repeat(size - 2)}"`
    expect((await echo(filled(10_000))).status).toBe(200)
    expect(await echo(filled(10_001))).toEqual({
      status: 413,
      body: { error: 'The body is too large' },
    })
  })

  it('refuses a large body whose size no header tells', async () => {
    const stream = new ReadableStream({
      start(controller) {
        for (let i = 0; i < 100; i++) controller.enqueue(new TextEncoder().encode('x'.repeat(1000)))
        controller.close()
      },
    })
    const init = { method: 'POST', body: stream, duplex: 'half' } as RequestInit
    expect((await fetch(`${app.url}/echo`, init)).status).toBe(413)
  })

  it('refuses a small body that unpacks to a large one', async () => {
    const bomb = new Uint8Array(gzipSync(`"${'x'.repeat(1_000_000)}"`))
    expect(bomb.length).toBeLessThan(10_000)
    expect((await echo(bomb, { 'content-encoding': 'gzip' })).status).toBe(413)
  })

  it('takes 1000 levels and refuses 1001', async () => {
    expect((await echo(nested(1000))).status).toBe(200)
    expect(await echo(nested(1001))).toEqual({
      status: 400,
      body: { error: 'The body is nested deeper than 1000 levels' },
    })
  })

  it('keeps a member named __proto__ as data', async () => {
    const text = '{"got":{"__proto__":{"a":1}}}'
    const answer = await rawRequest(app.port, {
      method: 'POST',
      target: '/echo',
      body: '{"__proto__":{"a":1}}',
    })
    expect(answer.body).toBe(text)
  })
})

describe('counting levels', () => {
  it('ignores brackets inside strings', () => {
    expect(nestsDeeperThan(`["${'['.repeat(50)}\\"${'{'.repeat(50)}"]`, 2)).toBe(false)
    expect(nestsDeeperThan(`["\\\\",[[]]]`, 2)).toBe(true)
  })

  it('agrees with a recursive count on any JSON value', () => {
    const depth = (value: unknown): number =>
      typeof value === 'object' && value !== null
        ? 1 + Math.max(0, ...Object.values(value).map(depth))
        : 0
    fc.assert(
      fc.property(fc.json(), fc.integer({ min: 0, max: 8 }), (text, limit) => {
        expect(nestsDeeperThan(text, limit)).toBe(depth(JSON.parse(text)) > limit)
      }),
    )
  })
})
