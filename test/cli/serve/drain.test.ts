import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import net from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type ChildBroker, startChildBroker } from '../../support/child-broker.ts'
import { dropStore } from '../../support/test-store.ts'

let dataDir = ''
beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'hivegate-drain-'))
})
afterEach(async () => {
  await dropStore(dataDir)
  await rm(dataDir, { recursive: true, force: true })
})

/** Resolves when that many pops wait in the broker. */
async function parked(broker: ChildBroker, count: number): Promise<void> {
  for (;;) {
    const { body } = await broker.call('GET /metrics/prometheus')
    if (body.includes(`\nhivegate_parked_pops ${count}\n`)) return
  }
}

async function timed(exited: Promise<{ code: number | null }>) {
  const start = performance.now()
  const { code } = await exited
  return { code, ms: performance.now() - start }
}

describe.each(['SIGTERM', 'SIGINT'] as const)('%s', (signal) => {
  it('answers long polls 204, finishes writes in flight and exits 0 well within 10 s', async () => {
    const broker = await startChildBroker({ DATA_DIR: dataDir })
    const polls = ['a', 'b', 'c'].map((queue) =>
      broker.call(`GET /api/v1/pop/queue/${queue}?wait=true&timeout=60000`),
    )
    await parked(broker, 3)
    const pushes = Array.from({ length: 50 }, (_, at) =>
      broker
        .call('POST /api/v1/push', {
          json: { items: [{ queue: 'w', payload: at, transactionId: `w${at}` }] },
        })
        .then((reply) => ({ at, status: reply.status }))
        .catch(() => ({ at, status: 0 })),
    )
    await Promise.race(pushes)
    broker.signal(signal)
    const { code, ms } = await timed(broker.exited)
    expect(code).toBe(0)
    expect(ms).toBeLessThan(10_000)
    expect((await Promise.all(polls)).map((reply) => reply.status)).toEqual([204, 204, 204])
    const done = (await Promise.all(pushes)).filter((push) => push.status === 201)
    const again = await startChildBroker({ DATA_DIR: dataDir })
    const { body } = await again.call('GET /api/v1/pop/queue/w?batch=100')
    const stored = new Set(body.messages.map((message: { data: number }) => message.data))
    for (const { at } of done) expect(stored.has(at)).toBe(true)
    again.signal('SIGTERM')
    await again.exited
  })
})

describe('while draining', () => {
  it('cuts a client that never finishes, in less than DRAIN_TIMEOUT', async () => {
    const broker = await startChildBroker({ DATA_DIR: dataDir, DRAIN_TIMEOUT: '5s' })
    const socket = net.connect(broker.port, '127.0.0.1')
    await once(socket, 'connect')
    socket.write('POST /api/v1/push HTTP/1.1\r\nHost: x\r\nContent-Length: 50\r\n\r\n{')
    socket.on('error', () => {})
    await broker.call('GET /health')
    broker.signal('SIGTERM')
    const { code, ms } = await timed(broker.exited)
    expect(code).toBe(0)
    expect(ms).toBeLessThan(6000)
  })

  it('does not wait for connections on which no request has begun', async () => {
    const broker = await startChildBroker({ DATA_DIR: dataDir, DRAIN_TIMEOUT: '60s' })
    for (const bytes of ['', 'GET /health HTTP/1.1\r\nHos']) {
      const socket = net.connect(broker.port, '127.0.0.1')
      socket.on('error', () => {})
      await once(socket, 'connect')
      socket.write(bytes)
    }
    await broker.call('GET /health')
    broker.signal('SIGTERM')
    const { code, ms } = await timed(broker.exited)
    expect(code).toBe(0)
    // Connections that work would be cut after 48 s.
    expect(ms).toBeLessThan(30_000)
  })

  it('gives back a leased message once its lease is over, and a kill loses nothing', async () => {
    const first = await startChildBroker({ DATA_DIR: dataDir })
    await first.call('POST /api/v1/push', { json: { items: [{ queue: 'l', payload: 'kept' }] } })
    const { body } = await first.call('GET /api/v1/pop/queue/l?leaseSeconds=3')
    expect(body.messages[0].data).toBe('kept')
    first.signal('SIGKILL')
    await first.exited
    const second = await startChildBroker({ DATA_DIR: dataDir })
    expect(
      (await second.call('GET /api/v1/pop/queue/l?wait=true&timeout=20000')).body.messages[0].data,
    ).toBe('kept')
    second.signal('SIGTERM')
    expect((await second.exited).code).toBe(0)
  })
})
