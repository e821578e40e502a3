import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { health, status } from '../../../src/queue/shapes/health.ts'
import { overallStatus } from '../../../src/queue/shapes/status.ts'
import { jsonMetrics, setMaintenance, showMaintenance } from '../../../src/queue/shapes/system.ts'
import { StoreClosedError } from '../../../src/storage/index.ts'
import {
  described,
  JWT_ON,
  lastingToken,
  startTestBroker,
  type TestBroker,
} from '../../support/broker.ts'
import { STORE } from '../../support/test-store.ts'

let open: TestBroker
let guarded: TestBroker
beforeAll(async () => {
  open = await startTestBroker({ WORKER_ID: 'worker-1' })
  guarded = await startTestBroker(JWT_ON)
})
afterAll(async () => {
  await open.stop()
  await guarded.stop()
})

describe('health', () => {
  it('is 200 and names server, version, worker and engine', async () => {
    expect(described(health, 200, await open.call('GET /health'))).toEqual({
      status: 'healthy',
      database: 'connected',
      server: 'hivegate',
      version: expect.stringMatching(/^\d+\.\d+\.\d+/),
      worker_id: 'worker-1',
      engine: STORE,
      hub: { enabled: false, status: 'ok', subscribers: 0, debugger: false },
    })
    expect(described(status, 200, await open.call('GET /status'))).toEqual({
      status: 'ok',
      engine: STORE,
    })
  })

  it('is 503 once the store is gone, and pushes are 503 with Retry-After', async () => {
    const broken = await startTestBroker()
    await broken.broker.engine.close()
    // The embedded store is in this process, so its end is played: it no longer answers.
    broken.broker.engine.ping = () => Promise.reject(new StoreClosedError())
    expect(described(health, 503, await broken.call('GET /health'))).toMatchObject({
      status: 'unhealthy',
      database: 'disconnected',
    })
    const answer = await broken.call('POST /api/v1/push', { json: { items: [{ queue: 'q' }] } })
    expect(answer.status).toBe(503)
    expect(answer.headers.get('retry-after')).toBe('1')
    expect((await broken.call('GET /metrics/prometheus')).status).toBe(200)
    await broken.stop()
  })
})

describe('status and metrics', () => {
  it('have their shapes, and count what was done', async () => {
    await open.call('POST /api/v1/push', { json: { items: [{ queue: 'm', payload: 1 }] } })
    await open.call('GET /api/v1/pop/queue/m')
    const body = described(overallStatus, 200, await open.call('GET /api/v1/status?queue=m'))
    expect(body.messages.requests).toEqual({ push: 1, pop: 1, ack: 0 })
    const metrics = described(jsonMetrics, 200, await open.call('GET /metrics'))
    expect(metrics.messages.total).toBe(1)
    expect(metrics.memory.rss).toBeGreaterThan(1_000_000)
  })

  it('are served in the Prometheus text format with the decisions of the gate', async () => {
    await guarded.call('POST /api/v1/push')
    await guarded.call('POST /api/v1/push', { token: lastingToken('read-only') })
    const answer = await guarded.call('GET /metrics/prometheus')
    expect(answer.headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8')
    const text: string = answer.body
    expect(text).toMatch(
      /queen_auth_decisions_total\{level="write-only",outcome="refused",reason="credential_missing"\} 1/,
    )
    expect(text).toMatch(
      /queen_auth_decisions_total\{level="write-only",outcome="refused",reason="role_missing"\} 1/,
    )
    const families = [...text.matchAll(/^# TYPE (\S+)/gm)].map((match) => match[1])
    expect(families).toEqual([...new Set(families)])
    for (const family of families) expect(text).toContain(`# HELP ${family} `)
  })
})

describe('push maintenance', () => {
  it('is a stored flag that an admin reads and sets', async () => {
    const set = (json: unknown) => open.call('POST /api/v1/system/maintenance', { json })
    const shown = async () =>
      described(showMaintenance, 200, await open.call('GET /api/v1/system/maintenance'))
    expect((await shown()).maintenanceMode).toBe(false)
    expect(described(setMaintenance, 200, await set({ enabled: true }))).toEqual({
      maintenanceMode: true,
      bufferedMessages: 0,
      bufferHealthy: true,
      message: expect.any(String),
    })
    expect((await shown()).maintenanceMode).toBe(true)
    await set({ enabled: false })
    expect((await shown()).maintenanceMode).toBe(false)
    for (const wrong of [undefined, {}, { enabled: 'true' }, { enabled: 1 }, []]) {
      expect((await set(wrong)).status).toBe(400)
    }
  })
})

describe('the identity routes', () => {
  it('give a standalone operator when tokens are off', async () => {
    const me = await open.call('GET /auth/me')
    expect([me.status, me.body.user_id, me.body.clusters[0].role]).toEqual([
      200,
      'standalone',
      'admin',
    ])
    const login = await open.call('GET /auth/login')
    expect([login.status, login.headers.get('location')]).toEqual([303, '/'])
    expect((await open.call('POST /auth/logout')).body).toEqual({ ok: true })
  })

  it('ask for a login when tokens are on, whatever the token', async () => {
    for (const token of [undefined, lastingToken('admin'), 'garbage']) {
      const me = await guarded.call('GET /auth/me', token === undefined ? {} : { token })
      expect([me.status, me.body]).toEqual([401, { error: 'auth_required', code: 'auth_required' }])
    }
    const login = await guarded.call('GET /auth/login')
    expect(login.status).toBe(200)
    expect(login.headers.get('content-type')).toBe('text/html; charset=utf-8')
    expect((await guarded.call('POST /auth/logout')).body).toEqual({ ok: true })
  })

  it('leave the start page public and static files unfound', async () => {
    expect((await guarded.call('GET /')).status).toBe(200)
    for (const path of ['/assets/x.js', '/assets/../package.json', '/favicon.ico', '/favicon']) {
      expect((await guarded.call(`GET ${path}`)).status).toBe(path.includes('..') ? 401 : 404)
    }
  })
})
