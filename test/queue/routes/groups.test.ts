import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  deleteGroup,
  deleteGroupOfQueue,
  laggingGroups,
  listGroups,
  moveSubscription,
  seekPartition,
  seekQueue,
  showGroup,
} from '../../../src/queue/shapes/groups.ts'
import { described, startTestBroker, type TestBroker } from '../../support/broker.ts'

let broker: TestBroker
beforeAll(async () => {
  broker = await startTestBroker()
})
afterAll(() => broker.stop())

const push = (queue: string, ...payloads: unknown[]) =>
  broker.call('POST /api/v1/push', {
    json: { items: payloads.map((payload) => ({ queue, payload })) },
  })
const popReply = (queue: string, group: string, query = '') =>
  broker.call(`GET /api/v1/pop/queue/${queue}?batch=100&consumerGroup=${group}${query}`)
const pop = async (queue: string, group: string, query = '') => {
  const reply = await popReply(queue, group, query)
  return reply.status === 204 ? [] : reply.body.messages.map((one: { data: unknown }) => one.data)
}
const BASE = '/api/v1/consumer-groups'

describe('listing groups', () => {
  it('gives one entry per group and queue, queue mode included', async () => {
    await push('list', 1, 2)
    await pop('list', 'g1')
    await pop('list', '')
    const rows = described(listGroups, 200, await broker.call(`GET ${BASE}`))
    const own = rows.filter((row: { queueName: string }) => row.queueName === 'list')
    expect(own.map((row: { name: string }) => row.name).toSorted()).toEqual([
      '__QUEUE_MODE__',
      'g1',
    ])
    expect(own.find((row: { name: string }) => row.name === 'g1')).toMatchObject({
      topics: ['list'],
      members: 1,
      state: 'Stable',
      subscriptionMode: 'all',
      subscriptionCreatedAt: expect.any(String),
    })
  })

  it('keeps lagging apart from a group of that name', async () => {
    const rows = described(
      laggingGroups,
      200,
      await broker.call(`GET ${BASE}/lagging?minLagSeconds=0`),
    )
    expect(rows).toBeInstanceOf(Array)
    expect(described(laggingGroups, 200, await broker.call(`GET ${BASE}/lagging`))).toEqual([])
  })

  it('shows one group keyed by queue, and an unknown one as an empty object', async () => {
    await push('__proto__', 1)
    await pop('__proto__', 'shown')
    const reply = await broker.call(`GET ${BASE}/shown`)
    described(showGroup, 200, reply)
    const text = await (await fetch(`${broker.url}${BASE}/shown`)).text()
    expect(text).toContain('"__proto__":{"partitions":[{"partition":"Default"')
    expect(described(showGroup, 200, await broker.call(`GET ${BASE}/nobody`))).toEqual({})
  })
})

describe('deleting a group', () => {
  it('with its metadata makes the next pop a first contact', async () => {
    await push('gone', 1)
    expect(await pop('gone', 'late', '&subscriptionMode=new')).toEqual([])
    const body = described(deleteGroup, 200, await broker.call(`DELETE ${BASE}/late`))
    expect(body).toMatchObject({ success: true, consumerGroup: 'late', metadataDeleted: true })
    expect(await pop('gone', 'late')).toEqual([1])
  })

  it('without it starts again from the kept subscription', async () => {
    await push('kept', 'old')
    await pop('kept', 'g', '&subscriptionMode=new')
    await push('kept', 'new')
    expect(await pop('kept', 'g')).toEqual(['new'])
    const route = `DELETE ${BASE}/g/queues/kept?deleteMetadata=false`
    const body = described(deleteGroupOfQueue, 200, await broker.call(route))
    expect(body).toEqual({
      success: true,
      consumerGroup: 'g',
      queueName: 'kept',
      deletedPartitions: 1,
      metadataDeleted: false,
    })
    expect(await pop('kept', 'g')).toEqual(['new'])
  })

  it('is 200 with zero counts for a group nobody knows', async () => {
    const body = described(deleteGroup, 200, await broker.call(`DELETE ${BASE}/nobody`))
    expect(body.deletedPartitions).toBe(0)
    described(deleteGroupOfQueue, 200, await broker.call(`DELETE ${BASE}/nobody/queues/none`))
  })

  it('makes acks with its lease fail one by one', async () => {
    await push('lease', 1)
    const [message] = (await popReply('lease', 'dying')).body.messages
    await broker.call(`DELETE ${BASE}/dying`)
    const { body } = await broker.call('POST /api/v1/ack', {
      json: { ...message, consumerGroup: 'dying' },
    })
    expect(body[0].success).toBe(false)
  })
})

describe('moving a subscription', () => {
  it('answers the new start and how many rows have it', async () => {
    await push('moved', 1)
    await pop('moved', 'mover')
    const json = { subscriptionTimestamp: '2026-01-02 03:04:05' }
    const reply = await broker.call(`POST ${BASE}/mover/subscription`, { json })
    expect(described(moveSubscription, 200, reply)).toEqual({
      success: true,
      consumerGroup: 'mover',
      newTimestamp: '2026-01-02T03:04:05.000000Z',
      rowsUpdated: 1,
    })
  })

  it.each([undefined, {}, { subscriptionTimestamp: 'soon' }, { subscriptionTimestamp: 5 }])(
    'is 400 for %j',
    async (json) => {
      expect((await broker.call(`POST ${BASE}/mover/subscription`, { json })).status).toBe(400)
    },
  )
})

describe('seeking', () => {
  const seek = (path: string, json?: unknown) => broker.call(`POST ${BASE}/${path}/seek`, { json })

  it('to the end skips what is stored, and a later push is delivered', async () => {
    await push('end', 1, 2)
    const body = described(seekQueue, 200, await seek('g/queues/end', { toEnd: true }))
    expect(body).toEqual({
      success: true,
      consumerGroup: 'g',
      queueName: 'end',
      seekToEnd: true,
      targetTimestamp: null,
      partitionsUpdated: 1,
    })
    expect(await pop('end', 'g')).toEqual([])
    await push('end', 3)
    expect(await pop('end', 'g')).toEqual([3])
  })

  it('to the time of a message, to the microsecond, delivers from that message on', async () => {
    await push('time', 1, 2)
    await push('time', 3)
    const { messages } = (await popReply('time', 'reader')).body
    const timestamp = messages[2].createdAt
    const body = described(seekQueue, 200, await seek('reader/queues/time', { timestamp }))
    expect(body).toMatchObject({ seekToEnd: false, targetTimestamp: timestamp })
    expect(await pop('time', 'reader')).toEqual([3])
  })

  it('of one partition takes an empty body for the end', async () => {
    await push('part', 1)
    const reply = await seek('g/queues/part/partitions/Default')
    expect(described(seekPartition, 200, reply)).toMatchObject({
      partitionName: 'Default',
      updated: true,
      cursorMovedTo: expect.any(String),
    })
    expect(await pop('part', 'g')).toEqual([])
  })

  it('wakes a waiting pop', async () => {
    await push('wake', 1)
    expect(await pop('wake', 'w', '&autoAck=true')).toEqual([1])
    const waiting = pop('wake', 'w', '&wait=true&timeout=20000')
    while (broker.broker.engine.counters().parked === 0) await new Promise(setImmediate)
    await seek('w/queues/wake', { timestamp: '2020-01-01T00:00:00Z' })
    expect(await waiting).toEqual([1])
  })

  it.each([
    undefined,
    {},
    { toEnd: false },
    { toEnd: true, timestamp: '2026-01-01' },
    { timestamp: 'soon' },
    { toEnd: 'yes' },
    [],
  ])('of a queue is 400 for %j', async (json) => {
    expect((await seek('g/queues/part', json)).status).toBe(400)
  })

  it.each(['-271821-04-20T00:00:00.000Z', '+275760-09-13T00:00:00.000Z'])(
    'takes %s, the ends of time',
    async (timestamp) => {
      expect((await seek('g/queues/part', { timestamp })).status).toBe(200)
    },
  )

  it('is 404 for an unknown queue or partition', async () => {
    expect((await seek('g/queues/nowhere', { toEnd: true })).status).toBe(404)
    expect((await seek('g/queues/part/partitions/nowhere')).status).toBe(404)
  })
})
