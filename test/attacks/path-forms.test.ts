import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { rawRequest } from '../support/raw-request.ts'
import { type RoutesApp, startRoutesApp } from '../support/routes-app.ts'
import { roleToken } from '../support/tokens.ts'

let app: RoutesApp
beforeAll(async () => {
  app = await startRoutesApp()
})
afterAll(() => app.close())

/** Sends a target as it is written; tells the status and the handler that ran. */
async function raw(target: string, role?: string, method = 'GET') {
  const headers = role ? [`Authorization: Bearer ${roleToken(role)}`] : []
  const answer = await rawRequest(app.port, { method, target, headers })
  const mark = answer.header('x-ran')
  return { status: answer.status, ran: mark === undefined ? undefined : app.rows[Number(mark)] }
}

/** Ways to write the admin route `GET /api/v1/system/maintenance`. */
const ADMIN_SPELLINGS = [
  '//api/v1/system/maintenance',
  '/api//v1/system/maintenance',
  '/api/v1//system/maintenance',
  '/api/v1/system//maintenance',
  '///api///v1///system///maintenance',
  '/./api/v1/system/maintenance',
  '/api/v1/./system/maintenance',
  '/api/v1/system/./maintenance',
  '/x/../api/v1/system/maintenance',
  '/api/v1/x/../system/maintenance',
  '/api/v1/status/../system/maintenance',
  '/health/../api/v1/system/maintenance',
  '/assets/../api/v1/system/maintenance',
  '/assets/%2e%2e/api/v1/system/maintenance',
  '/assets/..%2fapi/v1/system/maintenance',
  '/favicon/../api/v1/system/maintenance',
  '/favicon.ico/..%2f..%2fapi/v1/system/maintenance',
  '/api/v1/%73ystem/maintenance',
  '/api/v1/s%79stem/maintenance',
  '/api/v1/system/%6Daintenance',
  '/%61%70%69/v1/system/maintenance',
  '/api/v1/system%2fmaintenance',
  '/api/v1/system%2Fmaintenance',
  '/api/v1%2fsystem/maintenance',
  '/api%2Fv1%2Fsystem%2Fmaintenance',
  '/%2fapi/v1/system/maintenance',
  '/api/v1/system%5cmaintenance',
  '/api/v1\\system\\maintenance',
  '\\api\\v1\\system\\maintenance',
  '/api/v1/%2573ystem/maintenance',
  '/api/v1/system%252fmaintenance',
  '/API/v1/system/maintenance',
  '/api/V1/system/maintenance',
  '/api/v1/SYSTEM/maintenance',
  '/api/v1/System/Maintenance',
  '/api/v1/system/maintenance/',
  '/api/v1/system/maintenance//',
  '/api/v1/system/maintenance/.',
  '/api/v1/system/maintenance/x/..',
  '/api/v1/system/maintenance%20',
  '/api/v1/system/maintenance%00',
  '/api/v1/system/maintenance;x=1',
  '/api/v1;x/system/maintenance',
  '/api/v1/system/maintenance?x=/health',
  '/api/v1/system/maintenance#/health',
  '/api/v1/system/maintenance%3fx',
  '/api/v1/system/maintenance%23x',
  '/api/v1/ſystem/maintenance',
  '/api/v1/%c5%bfystem/maintenance',
  '/api/v1/%c0%af/system/maintenance',
  '/api/v1/%u0073ystem/maintenance',
  '/api/v1/%system/maintenance',
  '/api/v1/system/%E0%A4%A',
]

/** Forms of request target that are no plain path (RFC 9112 §3.2). */
const TARGET_FORMS = [
  'http://127.0.0.1/api/v1/system/maintenance',
  'HTTP://127.0.0.1/api/v1/system/maintenance',
  'http://health/api/v1/system/maintenance',
  'http://127.0.0.1:80/api/v1/system/maintenance?x',
  'http://u:p@127.0.0.1/api/v1/system/maintenance',
  'https://127.0.0.1/api/v1/system/maintenance',
  'http://127.0.0.1//api/v1/system/maintenance',
  'http://127.0.0.1/health/../api/v1/system/maintenance',
  'http:/api/v1/system/maintenance',
  'http:api/v1/system/maintenance',
  'http:///api/v1/system/maintenance',
  'http:\\\\127.0.0.1\\api\\v1\\system\\maintenance',
  'ftp://127.0.0.1/api/v1/system/maintenance',
  'x:/api/v1/system/maintenance',
  'javascript:/api/v1/system/maintenance',
  '//127.0.0.1/api/v1/system/maintenance',
  '//health/api/v1/system/maintenance',
  'api/v1/system/maintenance',
  '127.0.0.1/api/v1/system/maintenance',
  '127.0.0.1:80',
  '?/api/v1/system/maintenance',
  '#/api/v1/system/maintenance',
  '*',
  '*/api/v1/system/maintenance',
  './api/v1/system/maintenance',
  '../api/v1/system/maintenance',
]

describe('a spelling of an admin route', () => {
  it.each([...ADMIN_SPELLINGS, ...TARGET_FORMS])(
    '%s opens it to nobody below admin',
    async (target) => {
      for (const method of ['GET', 'POST', 'HEAD', 'OPTIONS']) {
        for (const role of [undefined, 'read-only', 'write-only', 'read-write']) {
          const { status, ran } = await raw(target, role, method)
          expect(status).toBeLessThan(500)
          if (ran) expect(`${role} ran ${ran.level}`).toBe(`${role} ran public`)
        }
      }
      const admin = await raw(target, 'admin')
      expect(admin.status).toBeLessThan(500)
    },
  )
})

describe('a path not in normal form', () => {
  it.each([
    '//api/v1/status',
    '/api//v1/status',
    '/api/v1/x/../status',
    '/api/v1/%73tatus',
    '/api/v1/status/',
    '/api/v1/status/.',
    '/%61pi/v1/status',
  ])('%s: 401 without a token, and with a good one 404 or 400, never 200', async (target) => {
    expect((await raw(target)).status).toBe(401)
    const { status, ran } = await raw(target, 'admin')
    expect([400, 404]).toContain(status)
    expect(ran).toBeUndefined()
  })

  it.each([
    '/health/',
    '//health',
    '/./health',
    '/x/../health',
    '/%68ealth',
    '/HEALTH',
    '/health%2f',
  ])('%s is not public: one of its readings is not', async (target) => {
    expect((await raw(target)).status).toBe(401)
  })

  it.each([
    '/assets/../x',
    '/assets/%2e%2e/x',
    '/assets/..%2fx',
    '/assets/x/../../y',
    '/favicon/../x',
  ])('%s leaves the public prefix, so it wants a token', async (target) => {
    expect((await raw(target)).status).toBe(401)
  })

  it('a queue named a/b, sent as a%2Fb, works at the level of its route', async () => {
    for (const name of ['a%2Fb', 'a%2fb', 'a%3Ab', 'a+b', '%C3%BC', 'a%20b', 'a%5Cb']) {
      const get = await raw(`/api/v1/resources/queues/${name}`, 'read-only')
      expect([get.status, get.ran?.path]).toEqual([200, '/api/v1/resources/queues/:queue'])
      const refused = await raw(`/api/v1/resources/queues/${name}`, 'read-write', 'DELETE')
      expect(refused.status).toBe(403)
      const del = await raw(`/api/v1/resources/queues/${name}`, 'admin', 'DELETE')
      expect([del.status, del.ran?.level]).toEqual([200, 'admin'])
      const pop = await raw(`/api/v1/pop/queue/${name}`, 'read-write')
      expect([pop.status, pop.ran?.level]).toEqual([200, 'read-write'])
    }
  })

  it('an absolute target is judged by its path alone, and served (RFC 9112 §3.2.2)', async () => {
    for (const host of ['127.0.0.1', 'elsewhere.example:99', 'internal']) {
      const health = await raw(`http://${host}/health?x=1`)
      expect([health.status, health.ran?.path]).toEqual([200, '/health'])
      const status = await raw(`http://${host}/api/v1/status`, 'read-only')
      expect([status.status, status.ran?.path]).toEqual([200, '/api/v1/status'])
      expect((await raw(`http://${host}/api/v1/status`)).status).toBe(401)
      expect((await raw(`http://${host}/api/v1/pop`, 'read-only')).status).toBe(403)
    }
  })

  it('a name that climbs must satisfy the reading it climbs to', async () => {
    for (const slash of ['%2F', '%2f', '%5C', '%5c', '\\']) {
      const climbing = ['/api/v1/resources/queues/..', '..', 'system', 'x'].join(slash)
      expect((await raw(climbing, 'read-only')).status).toBe(403)
      expect((await raw(climbing, 'read-write')).status).toBe(403)
    }
    const down = '/api/v1/pop/queue/..%2F..%2Fstatus'
    expect((await raw(down, 'read-only')).status).toBe(403)
  })
})

describe('DELETE with a trailing slash', () => {
  it('still counts under the admin prefix, and reaches no handler', async () => {
    const target = '/api/v1/resources/queues/x/'
    expect((await raw(target, 'read-write', 'DELETE')).status).toBe(403)
    expect(await raw(target, 'admin', 'DELETE')).toEqual({ status: 404, ran: undefined })
  })
})
