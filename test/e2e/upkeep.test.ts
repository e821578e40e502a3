import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { BROKERS, startTestBroker, type TestBroker } from '../support/broker.ts'
import { storedBytes } from '../support/test-store.ts'

let broker: TestBroker
beforeAll(async () => {
  broker = await startTestBroker({
    RETENTION_INTERVAL: '2000',
    QUEEN_ENCRYPTION_KEY: '0123456789abcdef'.repeat(4),
  })
})
afterAll(() => broker.stop())

const configure = (queue: string, options: object) =>
  broker.call('POST /api/v1/configure', { json: { queue, options } })
const push = (queue: string, count: number) =>
  broker.call('POST /api/v1/push', {
    json: {
      items: Array.from({ length: count }, (_, at) => ({ queue, payload: `payload ${at}` })),
    },
  })
const pop = (queue: string, query = '') =>
  broker.call(`GET /api/v1/pop/queue/${queue}?batch=1000${query}`)
const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

describe('with RETENTION_INTERVAL=2000', () => {
  it('retentionSeconds 10, maxWaitTimeSeconds 10 and completed retention leave nothing after 15 s', async () => {
    await configure('retained', { retentionEnabled: true, retentionSeconds: 10 })
    await configure('evicted', { maxWaitTimeSeconds: 10 })
    await configure('completed', { retentionEnabled: true, completedRetentionSeconds: 10 })
    await configure('forever', { retentionSeconds: 1 })
    for (const queue of ['retained', 'evicted', 'completed', 'forever']) await push(queue, 100)
    expect((await pop('completed', '&autoAck=true')).body.messages).toHaveLength(100)
    // The page's own figures: real time, because the jobs run by the clock of the process.
    await sleep(15_000)
    for (const queue of ['retained', 'evicted', 'completed']) {
      const { body } = await broker.call(`GET /api/v1/resources/queues/${queue}`)
      expect([queue, body.totals.total]).toEqual([queue, 0])
      expect((await pop(queue)).status).toBe(204)
    }
    expect((await broker.call('GET /api/v1/dlq?queue=evicted')).body.total).toBe(0)
    expect((await pop('forever')).body.messages).toHaveLength(100)
  })
})

describe('encryption at rest', () => {
  it('keeps payloads of such a queue out of the files and gives them back in clear', async () => {
    await configure('secret', { encryptionEnabled: true, retryLimit: 0 })
    await broker.call('POST /api/v1/push', {
      json: { items: [{ queue: 'secret', payload: { card: 'NEEDLE-ON' } }] },
    })
    await broker.call('POST /api/v1/transaction', {
      json: { operations: [{ type: 'push', queue: 'secret', payload: 'NEEDLE-ON too' }] },
    })
    await broker.call('POST /api/v1/push', {
      json: { items: [{ queue: 'clear', payload: 'NEEDLE-OFF' }] },
    })
    const stored = await storedBytes(broker.dataDir)
    expect(stored.includes('NEEDLE-OFF')).toBe(true)
    expect(stored.includes('NEEDLE-ON')).toBe(false)
    const { messages } = (await pop('secret')).body
    expect(messages.map((message: { data: unknown }) => message.data)).toEqual([
      { card: 'NEEDLE-ON' },
      'NEEDLE-ON too',
    ])
    await broker.call('POST /api/v1/ack', { json: { ...messages[0], status: 'failed' } })
    const { body } = await broker.call('GET /api/v1/dlq?queue=secret')
    expect(body.messages[0]).toMatchObject({ data: { card: 'NEEDLE-ON' }, isEncrypted: true })
  })

  it('without a key stores in clear and never fails the push', async () => {
    const plain = await startTestBroker()
    const configured = { queue: 'secret', options: { encryptionEnabled: true } }
    for (let each = 0; each < BROKERS; each += 1) {
      await plain.call('POST /api/v1/configure', { json: configured })
    }
    const json = { items: [{ queue: 'secret', payload: 'readable' }] }
    expect((await plain.call('POST /api/v1/push', { json })).status).toBe(201)
    const { body } = await plain.call('GET /api/v1/pop/queue/secret')
    expect(body.messages[0].data).toBe('readable')
    const warnings = plain.lines.filter((line) => line.includes('QUEEN_ENCRYPTION_KEY'))
    expect(warnings).toHaveLength(1)
    await plain.stop()
  })
})

describe('delays', () => {
  it('delayedProcessing holds a message back until it is that old', async () => {
    await configure('delayed', { delayedProcessing: 2 })
    await push('delayed', 1)
    expect((await pop('delayed')).status).toBe(204)
    const { body } = await pop('delayed', '&wait=true&timeout=20000')
    expect(Date.now() - Date.parse(body.messages[0].createdAt)).toBeGreaterThanOrEqual(1990)
  })

  it('windowBuffer holds a partition back until its newest message is that old', async () => {
    await configure('window', { windowBuffer: 2 })
    await push('window', 2)
    expect((await pop('window')).status).toBe(204)
    const { body } = await pop('window', '&wait=true&timeout=20000')
    expect(body.messages).toHaveLength(2)
    expect(Date.now() - Date.parse(body.messages[1].createdAt)).toBeGreaterThanOrEqual(1990)
  })

  it('a namespace pop tries queues of higher priority first', async () => {
    for (const priority of [1, 9, 5]) {
      const json = { queue: `prio.${priority}`, namespace: 'prio', options: { priority } }
      await broker.call('POST /api/v1/configure', { json })
      await push(`prio.${priority}`, 1)
    }
    const order: string[] = []
    for (let round = 0; round < 3; round++) {
      const { body } = await broker.call('GET /api/v1/pop?namespace=prio&autoAck=true')
      order.push(body.messages[0].queue)
    }
    expect(order).toEqual(['prio.9', 'prio.5', 'prio.1'])
  })
})
