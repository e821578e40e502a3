import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { JWT_ON, lastingToken, startTestBroker, type TestBroker } from '../../support/broker.ts'

let open: TestBroker
let guarded: TestBroker

beforeAll(async () => {
  ;[open, guarded] = await Promise.all([startTestBroker(), startTestBroker(JWT_ON)])
})

afterAll(async () => {
  await Promise.all([open?.stop(), guarded?.stop()])
})

describe('the files of the dashboard', () => {
  test('the page is served at / when tokens are off, and allows nothing but its own files', async () => {
    const { status, headers, body } = await open.call('GET /')
    expect(status).toBe(200)
    expect(headers.get('content-type')).toMatch(/^text\/html/)
    expect(headers.get('content-security-policy')).toContain("default-src 'self'")
    expect(body).toMatch(/"\/assets\/v[^/]+\/app\.js"/)
    expect(body).not.toMatch(/https?:\/\//)
  })

  test('turning tokens on turns the page off', async () => {
    const { status, headers, body } = await guarded.call('GET /')
    expect(status).toBe(200)
    expect(headers.get('content-type')).toBe('application/json')
    expect(body).toMatchObject({ name: 'hivegate' })
    expect((await guarded.call('GET /index.html')).status).toBe(401)
  })

  test('files under the version may be cached for good, others are asked for again', async () => {
    const { body } = await open.call('GET /')
    const script = /"(\/assets\/v[^"]+\/app\.js)"/.exec(body)?.[1]
    const lasting = await open.call(`GET ${script}`)
    expect(lasting.status).toBe(200)
    expect(lasting.headers.get('content-type')).toMatch(/javascript/)
    expect(lasting.headers.get('cache-control')).toContain('immutable')
    const plain = await open.call('GET /assets/app.js')
    expect(plain.headers.get('cache-control')).not.toContain('immutable')
  })

  test('the plotting library is served from the package, two of its files and no others', async () => {
    expect((await open.call('GET /assets/vendor/uPlot.esm.js')).status).toBe(200)
    expect((await open.call('GET /assets/vendor/uPlot.min.css')).status).toBe(200)
    expect((await open.call('GET /assets/vendor/uPlot.cjs.js')).status).toBe(404)
  })

  test('nothing outside the asset folder can be reached, and what is not there is 404 JSON', async () => {
    for (const path of [
      '/assets/nothing.js',
      '/assets/',
      '/assets/views',
      '/assets/%2e%2e/index.html',
      '/assets/..%2findex.html',
      '/assets/%2e%2e%2f%2e%2e%2fengine/index.ts',
      '/assets/vendor/..%2f..%2fpackage.json',
      '/assets/.%00',
      '/favicon.ico',
    ]) {
      const { status, headers } = await open.call(`GET ${path}`)
      expect([400, 404], path).toContain(status)
      expect(headers.get('content-type'), path).toBe('application/json')
    }
  })

  test('asset files are public when tokens are on', async () => {
    expect((await guarded.call('GET /assets/theme.css')).status).toBe(200)
    expect((await guarded.call('GET /favicon.svg')).status).toBe(200)
    const token = lastingToken('read-write')
    expect((await guarded.call('GET /assets', { token })).status).toBe(404)
  })
})
