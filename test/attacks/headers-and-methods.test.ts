import { describe, expect, it } from 'vitest'
import { guardedApp } from '../support/guarded-app.ts'
import { rawBytes, rawRequest } from '../support/raw-request.ts'
import { mint, roleToken, tokenOfSize } from '../support/tokens.ts'

const good = mint({ claims: { role: 'admin' } })
const bearer = (role: string) => `Authorization: Bearer ${roleToken(role)}`

describe('a method override', () => {
  it.each(['X-HTTP-Method-Override', 'X-HTTP-Method', 'X-Method-Override', '_method'])(
    'by %s is ignored: the request is judged and run under its real method',
    async (name) => {
      const app = await guardedApp()
      const send = (method: string, target: string, role: string, override: string) =>
        rawRequest(app.port, { method, target, headers: [bearer(role), `${name}: ${override}`] })
      expect((await send('POST', '/api/v1/push', 'read-only', 'GET')).status).toBe(403)
      expect((await send('POST', '/api/v1/messages', 'read-only', 'GET')).status).toBe(403)
      expect((await send('GET', '/api/v1/push', 'write-only', 'POST')).status).toBe(403)
      const queue = '/api/v1/resources/queues/x'
      expect((await send('GET', queue, 'read-only', 'DELETE')).status).toBe(200)
      expect((await send('DELETE', queue, 'read-write', 'GET')).status).toBe(403)
      expect(app.reached).toEqual([`GET ${queue}`])
    },
  )

  it('in the query or a form body is ignored', async () => {
    const app = await guardedApp()
    const target = '/api/v1/resources/queues/x?_method=DELETE&method=DELETE'
    expect((await rawRequest(app.port, { target, headers: [bearer('read-only')] })).status).toBe(
      200,
    )
    const form = await rawRequest(app.port, {
      method: 'POST',
      target: '/api/v1/messages/p/t',
      headers: [bearer('read-only'), 'Content-Type: application/x-www-form-urlencoded'],
      body: '_method=GET',
    })
    expect(form.status).toBe(403)
    expect(app.reached).toEqual([`GET ${target}`])
  })
})

describe('headers that name another path or client', () => {
  it.each([
    'X-Original-URL: /health',
    'X-Rewrite-URL: /health',
    'X-Forwarded-Uri: /health',
    'X-Forwarded-Path: /health',
    'X-Forwarded-Prefix: /health',
    'X-Forwarded-For: 127.0.0.1',
    'X-Forwarded-Host: localhost',
    'X-Forwarded-User: admin',
    'X-Remote-User: admin',
    'Forwarded: for=127.0.0.1;host=localhost',
    'Referer: http://127.0.0.1/health',
    'Host: localhost',
  ])('%s opens nothing', async (header) => {
    const app = await guardedApp()
    for (const target of ['/api/v1/system/x', '/api/v1/status']) {
      const headers = header.startsWith('Host') ? [] : [header]
      expect((await rawRequest(app.port, { target, headers })).status).toBe(401)
    }
    expect(app.reached).toEqual([])
  })
})

describe('a token anywhere but in Authorization', () => {
  it.each(['access_token', 'authorization', 'token', 'jwt', 'bearer', 'id_token', 'auth'])(
    'in the query as %s is ignored: 401',
    async (name) => {
      const app = await guardedApp()
      for (const value of [good, `Bearer%20${good}`]) {
        const answer = await rawRequest(app.port, { target: `/x?${name}=${value}` })
        expect([answer.status, answer.body]).toEqual([401, '{"error":"Authentication required"}'])
      }
      expect(app.reached).toEqual([])
    },
  )

  it('in a form or JSON body is ignored: 401', async () => {
    const app = await guardedApp()
    for (const [type, body] of [
      ['application/x-www-form-urlencoded', `access_token=${good}`],
      ['application/json', JSON.stringify({ access_token: good, authorization: good })],
    ] as const) {
      const headers = [`Content-Type: ${type}`]
      const answer = await rawRequest(app.port, { method: 'POST', target: '/x', headers, body })
      expect(answer.status).toBe(401)
    }
    expect(app.reached).toEqual([])
  })

  it.each(['Cookie', 'Proxy-Authorization', 'X-Authorization', 'X-Access-Token', 'X-Auth-Token'])(
    'in the header %s is ignored: 401',
    async (name) => {
      const app = await guardedApp()
      const value = name === 'Cookie' ? `access_token=${good}; mercureAuthorization=${good}` : good
      for (const credential of [value, `Bearer ${value}`]) {
        const headers = [`${name}: ${credential}`]
        expect((await rawRequest(app.port, { target: '/x', headers })).status).toBe(401)
      }
      expect(app.reached).toEqual([])
    },
  )

  it('beside cookies that cannot be decoded: they are not looked at', async () => {
    const app = await guardedApp()
    for (const cookie of ['%E0%A4%A', 'a=%', '=;;=', '__proto__=1', 'x="']) {
      const headers = [bearer('read-write'), `Cookie: ${cookie}`]
      expect((await rawRequest(app.port, { target: '/x', headers })).status).toBe(200)
    }
  })

  it('in the user part of an absolute target is ignored: 401', async () => {
    const app = await guardedApp()
    expect((await rawRequest(app.port, { target: `http://x:${good}@127.0.0.1/x` })).status).toBe(
      401,
    )
  })
})

describe('line ends and odd bytes', () => {
  it('a header cannot be smuggled in by an encoded line end in the target', async () => {
    const app = await guardedApp()
    const target = `/x%0d%0aAuthorization:%20Bearer%20${good}`
    expect((await rawRequest(app.port, { target })).status).toBe(401)
  })

  it.each([
    ['folded', `Authorization: Bearer\r\n ${good}`],
    ['with a blank before the colon', `Authorization : Bearer ${good}`],
    ['with a bare carriage return', `Authorization: Bearer ${good}\rX: y`],
    ['with a bare line feed', `X: y\nAuthorization: Bearer ${good}`],
    ['with a NUL', `Authorization: Bearer ${good}\0`],
    ['with a vertical tab', `Authorization: Bearer\v${good}`],
    ['with a no-break space', `Authorization: Bearer\u00a0${good}`],
    ['with latin-1 letters around it', `Authorization: Bearer é${good}`],
    ['with an underscore in the name', `Author_ization: Bearer ${good}`],
  ])('an Authorization header %s never passes, and never is a 500', async (_what, line) => {
    const app = await guardedApp()
    const head = `GET /x HTTP/1.1\r\nHost: x\r\nConnection: close\r\n${line}\r\n\r\n`
    const { status } = await rawBytes(app.port, Buffer.from(head, 'latin1'))
    expect([0, 400, 401]).toContain(status)
    expect(app.reached).toEqual([])
  })

  it('nothing that a client sent is repeated in an answer', async () => {
    const app = await guardedApp({ JWT_ISSUER: 'us' })
    const marker = 'zq7marker'
    for (const authorization of [
      `Bearer ${marker}`,
      `Basic ${marker}`,
      `Bearer ${mint({ header: { kid: marker, alg: marker } })}`,
      `Bearer ${mint({ claims: { iss: marker, sub: marker, aud: marker } })}`,
    ]) {
      const headers = [`Authorization: ${authorization}`]
      const answer = await rawRequest(app.port, { target: `/${marker}?${marker}`, headers })
      expect(answer.status).toBe(401)
      expect(JSON.stringify([answer.headers, answer.body])).not.toContain(marker)
    }
  })
})

describe('HTTP/1.0 and odd methods', () => {
  it('an HTTP/1.0 request is judged alike', async () => {
    const app = await guardedApp()
    const plain = await rawBytes(app.port, 'GET /api/v1/status HTTP/1.0\r\n\r\n')
    expect(plain.status).toBe(401)
    const head = `GET /api/v1/status HTTP/1.0\r\n${bearer('read-only')}\r\n\r\n`
    expect((await rawBytes(app.port, head)).status).toBe(200)
  })

  it.each(['get', 'Get', 'gET', 'GETX', 'FOO', 'head', 'post'])(
    'the method %s opens nothing without a token',
    async (method) => {
      const app = await guardedApp()
      const { status } = await rawRequest(app.port, { method, target: '/api/v1/status' })
      expect([400, 401]).toContain(status)
      expect(app.reached).toEqual([])
    },
  )

  it('CONNECT and an upgrade open nothing', async () => {
    const app = await guardedApp()
    const connect = await rawRequest(app.port, { method: 'CONNECT', target: '/api/v1/system/x' })
    expect([0, 400, 401, 404, 405]).toContain(connect.status)
    const headers = ['Upgrade: websocket', 'Connection: Upgrade', 'Sec-WebSocket-Version: 13']
    const upgrade = await rawRequest(app.port, { target: '/api/v1/system/x', headers })
    expect([0, 400, 401]).toContain(upgrade.status)
    expect(app.reached).toEqual([])
  })
})

describe('too much of everything', () => {
  it('a refusal comes before the body is read', async () => {
    const app = await guardedApp()
    const head = 'POST /api/v1/push HTTP/1.1\r\nHost: x\r\nConnection: close\r\n'
    const promised = `${head}Content-Length: 100000000\r\n\r\n{"items":`
    expect((await rawBytes(app.port, promised)).status).toBe(401)
  })

  it('a token of many nested or many members is a token like any other', async () => {
    const app = await guardedApp()
    let nested: unknown = 'x'
    for (let depth = 0; depth < 2000; depth += 1) nested = [nested]
    const wide = Object.fromEntries(Array.from({ length: 1500 }, (_, i) => [`c${i}`, i]))
    for (const claims of [{ nested }, wide]) {
      const headers = [`Authorization: Bearer ${mint({ claims })}`]
      const { status } = await rawRequest(app.port, { target: '/x', headers })
      expect([200, 401]).toContain(status)
    }
  })

  it('the gate serves on after garbage', async () => {
    const app = await guardedApp()
    for (const token of ['..', 'eyJ.eyJ.', 'a'.repeat(40_000), tokenOfSize(33_000)]) {
      const headers = [`Authorization: Bearer ${token}`]
      expect((await rawRequest(app.port, { target: '/x', headers })).status).toBe(401)
    }
    const headers = [bearer('read-write')]
    expect((await rawRequest(app.port, { target: '/x', headers })).status).toBe(200)
  })
})
