import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  deleteMessage,
  listMessages,
  queueMessages,
  showMessage,
} from '../../../src/queue/shapes/messages.ts'
import { described, startTestBroker, type TestBroker } from '../../support/broker.ts'
import { ackOne, freshQueue, pushNames, take } from '../../support/traffic.ts'

let broker: TestBroker
beforeAll(async () => {
  broker = await startTestBroker()
})
afterAll(() => broker.stop())

/** A queue of five: one completed, one dead letter, one in a lease, two that wait. */
async function mixedQueue() {
  const { call } = broker
  const queue = freshQueue()
  await pushNames(call, queue, ['a', 'b', 'c', 'd', 'e'])
  const first = await take(call, queue, 2)
  await ackOne(call, first, 'a')
  await ackOne(call, first, 'b', { status: 'dlq', error: 'broken' })
  await take(call, queue, 1)
  return { queue, partitionId: first.partitionId }
}

async function list(query: string) {
  return described(listMessages, 200, await broker.call(`GET /api/v1/messages?${query}`))
}

const NAMES = (body: { messages: { transactionId: string }[] }) =>
  body.messages.map(({ transactionId }) => transactionId)

describe('GET /api/v1/messages', () => {
  it('shows the messages of the last hour, newest first, with payload and status', async () => {
    const { queue, partitionId } = await mixedQueue()
    const body = await list(`queue=${queue}`)
    expect(NAMES(body)).toEqual(['e', 'd', 'c', 'b', 'a'])
    expect(body).toMatchObject({
      total: 5,
      mode: { hasQueueMode: true, busGroupsCount: 0, type: 'queue' },
    })
    expect(body.messages[4]).toMatchObject({
      transactionId: 'a',
      partitionId,
      queuePath: `${queue}/Default`,
      queue,
      partition: 'Default',
      namespace: queue.split('.')[0],
      task: queue.split('.')[1],
      status: 'completed',
      data: { name: 'a' },
      payload: { name: 'a' },
      isEncrypted: false,
      leaseExpiresAt: null,
    })
    expect(body.messages[2].leaseExpiresAt).toMatch(/Z$/)
  })

  it.each([
    ['completed', ['a']],
    ['dead_letter', ['b']],
    ['processing', ['c']],
    ['pending', ['e', 'd']],
    ['nonsense', ['e', 'd', 'c', 'b', 'a']],
  ])('filters by status %s', async (status, names) => {
    const { queue } = await mixedQueue()
    const body = await list(`queue=${queue}&status=${status}`)
    expect(NAMES(body)).toEqual(names)
    expect(body.total).toBe(names.length)
  })

  it('filters by partition, namespace under both names, and task', async () => {
    const queue = freshQueue()
    await pushNames(broker.call, queue, ['x'], 'p1')
    await pushNames(broker.call, queue, ['y'], 'p2')
    const [namespace, task] = queue.split('.')
    expect(NAMES(await list(`queue=${queue}&partition=p2`))).toEqual(['y'])
    expect(NAMES(await list(`ns=${namespace}`))).toEqual(['y', 'x'])
    expect(NAMES(await list(`namespace=${namespace}&task=${task}`))).toEqual(['y', 'x'])
    expect(NAMES(await list(`namespace=${namespace}&task=other`))).toEqual([])
  })

  it('pages, and reads from and to as a span whose end takes its whole minute', async () => {
    const queue = freshQueue()
    await pushNames(broker.call, queue, ['1', '2', '3'])
    expect(NAMES(await list(`queue=${queue}&limit=2`))).toEqual(['3', '2'])
    expect(NAMES(await list(`queue=${queue}&limit=2&offset=2`))).toEqual(['1'])
    const minute = new Date().toISOString().slice(0, 16)
    const minuteAgo = new Date(Date.now() - 60_000).toISOString()
    expect((await list(`queue=${queue}&from=${minuteAgo}&to=${minute}`)).total).toBe(3)
    expect((await list(`queue=${queue}&to=2020-01-01T00:00:00Z`)).total).toBe(0)
    expect((await list(`queue=${queue}&limit=x&offset=y&from=z&to=z`)).total).toBe(3)
  })

  it('is empty for an unknown queue', async () => {
    expect(await list('queue=nowhere')).toMatchObject({
      messages: [],
      total: 0,
      mode: { type: 'none' },
    })
  })
})

describe('GET /api/v1/messages/:partitionId/:transactionId', () => {
  it('shows one message with its options and consumers', async () => {
    const queue = freshQueue()
    await broker.call('POST /api/v1/configure', { json: { queue, options: { leaseTime: 7 } } })
    await pushNames(broker.call, queue, ['a'])
    const taken = await take(broker.call, queue, 1, 'g1')
    await ackOne(broker.call, taken, 'a', { consumerGroup: 'g1' })
    await take(broker.call, queue, 1, 'g2')
    const path = `GET /api/v1/messages/${taken.partitionId}/a`
    expect(described(showMessage, 200, await broker.call(path))).toMatchObject({
      transactionId: 'a',
      data: { name: 'a' },
      errorMessage: null,
      retryCount: 0,
      queueConfig: { leaseTime: 7, retryLimit: 3, retryDelay: 1000, ttl: 3600, priority: 0 },
      mode: { hasQueueMode: false, busGroupsCount: 2, consumedByGroups: 1, type: 'bus' },
      busStatus: { consumedBy: 1, totalGroups: 2 },
      consumerGroups: [
        { name: 'g1', consumed: true, leaseExpiresAt: null },
        { name: 'g2', consumed: false, leaseExpiresAt: expect.stringMatching(/Z$/) },
      ],
    })
  })

  it('has the error of a dead letter', async () => {
    const { partitionId } = await mixedQueue()
    const path = `GET /api/v1/messages/${partitionId}/b`
    expect(described(showMessage, 200, await broker.call(path))).toMatchObject({
      status: 'dead_letter',
      errorMessage: 'broken',
    })
  })

  it('is 404 for an unknown message, also when the id is that of another partition', async () => {
    const { partitionId } = await mixedQueue()
    for (const address of [`${partitionId}/zzz`, 'not-a-uuid/a', `${'0'.repeat(36)}/a`]) {
      const reply = await broker.call(`GET /api/v1/messages/${address}`)
      expect([reply.status, reply.body]).toEqual([404, { error: 'Message not found' }])
    }
  })
})

describe('DELETE /api/v1/messages/:partitionId/:transactionId', () => {
  it('removes the message and its dead letters and leaves the rest in order', async () => {
    const { queue, partitionId } = await mixedQueue()
    for (const name of ['b', 'd']) {
      const reply = await broker.call(`DELETE /api/v1/messages/${partitionId}/${name}`)
      expect(described(deleteMessage, 200, reply)).toMatchObject({
        success: true,
        partitionId,
        transactionId: name,
      })
    }
    expect(NAMES(await list(`queue=${queue}`))).toEqual(['e', 'c', 'a'])
    const { body } = await broker.call(`GET /api/v1/dlq?queue=${queue}`)
    expect(body.total).toBe(0)
  })

  it('is 404 for what is not there, also the second time', async () => {
    const { partitionId } = await mixedQueue()
    await broker.call(`DELETE /api/v1/messages/${partitionId}/e`)
    for (const name of ['e', 'zzz']) {
      const reply = await broker.call(`DELETE /api/v1/messages/${partitionId}/${name}`)
      expect(described(deleteMessage, 404, reply)).toEqual({ error: 'Message not found' })
    }
  })
})

describe('GET /api/v1/status/queues/:queue/messages', () => {
  it('is a bare list of one queue, newest first, in pages', async () => {
    const { queue } = await mixedQueue()
    const path = `GET /api/v1/status/queues/${queue}/messages`
    const all = described(queueMessages, 200, await broker.call(path))
    expect(all.map((one: { status: string }) => one.status)).toEqual([
      'pending',
      'pending',
      'processing',
      'dead_letter',
      'completed',
    ])
    const page = described(queueMessages, 200, await broker.call(`${path}?limit=1&offset=4`))
    expect(page).toHaveLength(1)
    expect(page[0].transactionId).toBe('a')
  })

  it('is 404 for an unknown queue', async () => {
    const reply = await broker.call('GET /api/v1/status/queues/nowhere/messages')
    described(queueMessages, 404, reply)
  })
})
