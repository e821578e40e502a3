import express from 'express'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { answerNothing } from '../../src/http/answer.ts'
import { HttpError } from '../../src/http/errors.ts'
import { methodNotAllowed, notImplemented } from '../../src/http/failure.ts'
import { routesOf } from '../../src/http/routes-of.ts'
import { rawRequest } from '../support/raw-request.ts'
import { type FloorApp, startFloor } from './floor-app.ts'

let app: FloorApp
beforeAll(async () => {
  app = await startFloor({
    routes(on) {
      on.get('/nothing', (_req, res) => answerNothing(res))
      on.get('/crash', () => {
        throw new Error('private detail')
      })
      on.get('/late', async (_req, res) => {
        res.write('half')
        await new Promise((resolve) => setImmediate(resolve))
        throw new Error('too late')
      })
      on.get('/gone', () => {
        throw new HttpError('not_found', 'Queue not found', { queue: true })
      })
      on.head('/pop', methodNotAllowed('GET'))
      on.get('/pop', (_req, res) => answerNothing(res))
      on.get('/later', notImplemented)
    },
  })
})
afterAll(() => app.close())

describe('an error as an answer', () => {
  it('has its status and {"error": text} as application/json', async () => {
    const answer = await rawRequest(app.port, { target: '/later' })
    expect(answer.status).toBe(501)
    expect(answer.header('content-type')).toBe('application/json')
    expect(answer.body).toBe('{"error":"not implemented"}')
  })

  it('may carry further members', async () => {
    const answer = await rawRequest(app.port, { target: '/gone' })
    expect([answer.status, answer.body]).toEqual([404, '{"error":"Queue not found","queue":true}'])
  })

  it.each(['GET', 'POST', 'PUT', 'PATCH', 'DELETE'])(
    'is 404 no_such_route for an unknown path under %s',
    async (method) => {
      const answer = await rawRequest(app.port, { method, target: '/nowhere' })
      expect(answer.status).toBe(404)
      expect(answer.body).toBe('{"error":"Not Found","code":"no_such_route"}')
    },
  )

  it.each(['/items/x/', '/Items/x', '/items//x', '/ECHO'])(
    'is 404 for %s, another spelling of a path',
    async (target) => {
      expect((await rawRequest(app.port, { target })).status).toBe(404)
    },
  )

  it.each(['/items/%', '/items/%zz', '/items/%E0%A4%A', '/items/%ff'])(
    'is 400 for the malformed percent-encoding %s',
    async (target) => {
      const answer = await rawRequest(app.port, { target })
      expect(answer.status).toBe(400)
      expect(answer.body).toBe('{"error":"The path holds a malformed percent-encoding"}')
    },
  )

  it('tells nothing of an unexpected failure, and the log names it', async () => {
    const answer = await rawRequest(app.port, { target: '/crash' })
    expect([answer.status, answer.body]).toEqual([500, '{"error":"Internal server error"}'])
    expect(app.lines.some((line) => line.includes('private detail'))).toBe(true)
  })

  it('cuts the connection when the answer had begun', async () => {
    const answer = await rawRequest(app.port, { target: '/late' })
    expect(answer.body).not.toContain('too late')
    expect(answer.body).not.toMatch(/0\r\n\r\n$/)
  })

  it('is 405 with Allow for HEAD on a path that HEAD must not run', async () => {
    const answer = await rawRequest(app.port, { method: 'HEAD', target: '/pop' })
    expect([answer.status, answer.header('allow'), answer.body]).toEqual([405, 'GET', ''])
  })
})

describe('answers', () => {
  it('204 carries neither body nor headers that describe one', async () => {
    const answer = await rawRequest(app.port, { target: '/nothing' })
    expect(answer.status).toBe(204)
    expect(answer.body).toBe('')
    const names = answer.headers.map(([name]) => name)
    expect(names).not.toContain('content-type')
    expect(names).not.toContain('content-length')
    expect(names).not.toContain('transfer-encoding')
  })

  it('to HEAD have the headers of GET and no body', async () => {
    const get = await rawRequest(app.port, { target: '/items/abc' })
    const head = await rawRequest(app.port, { method: 'HEAD', target: '/items/abc' })
    expect([head.status, head.body]).toEqual([200, ''])
    expect(head.header('content-length')).toBe(get.header('content-length'))
  })

  it.each(['/nowhere', '/crash', '/nothing', '/items/a', '/items/%'])(
    'to %s may be read from any origin',
    async (target) => {
      const answer = await rawRequest(app.port, { target })
      expect(answer.header('access-control-allow-origin')).toBe('*')
    },
  )

  it('never name the framework or an entity tag', async () => {
    const answer = await rawRequest(app.port, { target: '/items/a' })
    expect(answer.header('x-powered-by')).toBeUndefined()
    expect(answer.header('etag')).toBeUndefined()
  })

  it('ignore headers and parameters that would change the method', async () => {
    const answer = await rawRequest(app.port, {
      target: '/nothing?_method=DELETE',
      headers: [
        'X-HTTP-Method-Override: DELETE',
        'X-HTTP-Method: DELETE',
        'X-Method-Override: PUT',
      ],
    })
    expect(answer.status).toBe(204)
  })
})

describe('OPTIONS', () => {
  it.each(['/echo', '/nowhere', '/items/%', '*'])(
    'on %s is 204 without body and without content headers',
    async (target) => {
      const answer = await rawRequest(app.port, { method: 'OPTIONS', target })
      expect([answer.status, answer.body]).toEqual([204, ''])
      expect(answer.header('content-type')).toBeUndefined()
      expect(answer.header('content-length')).toBeUndefined()
      expect(answer.header('access-control-allow-origin')).toBe('*')
      expect(answer.header('access-control-allow-methods')).toBe('GET, POST, PUT, DELETE, OPTIONS')
      expect(answer.header('access-control-allow-headers')).toBe('Content-Type, Authorization')
      expect(answer.header('access-control-max-age')).toBe('86400')
    },
  )

  it('is left alone on paths with rules of their own', async () => {
    const answer = await rawRequest(app.port, { method: 'OPTIONS', target: '/exempt' })
    expect(answer.status).not.toBe(204)
    expect(answer.header('access-control-allow-origin')).toBeUndefined()
  })
})

describe('the list of registered routes', () => {
  it('is read from the router itself, nested routers included', () => {
    const inner = express.Router()
    inner.post('/b/:id', () => {})
    inner.all('/c', () => {})
    const router = express.Router()
    router.use((_req, _res, next) => next())
    router.head('/a', () => {})
    router.get('/a', () => {})
    router.use(inner)
    expect(routesOf(router)).toEqual([
      { method: 'GET', path: '/a' },
      { method: 'POST', path: '/b/:id' },
      { method: '*', path: '/c' },
    ])
  })

  it('refuses a router below a mount path', () => {
    const router = express.Router()
    router.use(
      '/below',
      express.Router().get('/a', () => {}),
    )
    expect(() => routesOf(router)).toThrow('routers are mounted at / only, found one at /below')
  })
})
