import { once } from 'node:events'
import net from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createLog } from '../../src/http/log.ts'
import { rawRequest } from '../support/raw-request.ts'
import { type FloorApp, startFloor } from './floor-app.ts'

const SECRET = 'eyJhbGciOiJIUzI1NiJ9.e30.c2VjcmV0LXNpZ25hdHVyZQ'
let app: FloorApp
beforeAll(async () => {
  app = await startFloor({ routes: (on) => on.get('/wait', () => {}) })
})
afterAll(() => app.close())

async function lineOf(requestId: string): Promise<Record<string, unknown>> {
  const found = app.lines.find((line) => line.includes(requestId))
  if (found) return JSON.parse(found)
  await new Promise((resolve) => setImmediate(resolve))
  return lineOf(requestId)
}

describe('the request log', () => {
  it('has one line per request with its id, method, path, status and time', async () => {
    const answer = await rawRequest(app.port, { target: '/items/a%2Fb?x=1' })
    const id = answer.header('x-request-id') ?? ''
    expect(id).toMatch(/^[0-9a-f]{12}-[0-9a-z]+$/)
    expect(await lineOf(id)).toEqual({
      level: 'info',
      time: expect.any(String),
      reqId: id,
      method: 'GET',
      path: '/items/a%2Fb',
      status: 200,
      ms: expect.any(Number),
      msg: 'request',
    })
  })

  it('holds no token, wherever its sender put it', async () => {
    const answer = await rawRequest(app.port, {
      target: `/items/a?access_token=${SECRET}&authorization=${SECRET}`,
      headers: [`Authorization: Bearer ${SECRET}`, `Cookie: mercureAuthorization=${SECRET}`],
    })
    await lineOf(answer.header('x-request-id') ?? '')
    expect(app.lines.join('')).not.toContain(SECRET)
  })

  it.each([
    [`/items/a#${SECRET}`, '/items/a'],
    [`/items/${SECRET}`, '/items/[token]'],
    [`/items/x;t=${SECRET.replaceAll('.', '%2E')}/y`, '/items/x;t=[token]/y'],
    ['http://user:PASSWORD@x/items/a', '/items/a'],
  ])('shows no token and no user part of the target %s', async (target, path) => {
    const answer = await rawRequest(app.port, { target })
    const line = await lineOf(answer.header('x-request-id') ?? '')
    expect(line['path']).toBe(path)
    expect(app.lines.join('')).not.toMatch(/PASSWORD|c2VjcmV0/)
  })

  it('takes no id from the client', async () => {
    const answer = await rawRequest(app.port, {
      target: '/items/a',
      headers: ['X-Request-Id: evil'],
    })
    expect(answer.header('x-request-id')).not.toBe('evil')
  })

  it('tells when the client went away before its answer', async () => {
    const socket = net.connect(app.port, '127.0.0.1')
    await once(socket, 'connect')
    const before = app.lines.length
    socket.write('GET /wait HTTP/1.1\r\nHost: x\r\n\r\n')
    await rawRequest(app.port, { target: '/items/a' })
    socket.destroy()
    while (!app.lines.slice(before).some((line) => line.includes('"aborted":true'))) {
      await new Promise((resolve) => setImmediate(resolve))
    }
    const line = app.lines.slice(before).find((text) => text.includes('"aborted":true'))
    // No answer had begun, so that there is no status to tell.
    expect(JSON.parse(line ?? '{}')).not.toHaveProperty('status')
  })
})

describe('the log', () => {
  it('redacts credentials in objects that are logged whole', () => {
    const lines: string[] = []
    const log = createLog('info', { write: (line) => lines.push(line) })
    log.info({ headers: { authorization: SECRET, cookie: SECRET }, token: SECRET, secret: SECRET })
    log.info({ req: { headers: { authorization: SECRET } }, authorization: SECRET })
    expect(lines.join('')).not.toContain(SECRET)
    expect(lines).toHaveLength(2)
  })
})
