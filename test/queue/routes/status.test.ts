import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  overallStatus,
  statusAnalytics,
  statusQueue,
  statusQueues,
} from '../../../src/queue/shapes/status.ts'
import { described, startTestBroker, type TestBroker } from '../../support/broker.ts'
import { ackOne, pushNames, take } from '../../support/traffic.ts'

let broker: TestBroker
/** Known traffic: queue `n.t`, six pushed in two requests, five popped, three acked, one dead, one in a lease. */
beforeAll(async () => {
  broker = await startTestBroker({ WORKER_ID: 'w' })
  const { call } = broker
  await call('POST /api/v1/configure', {
    json: { queue: 'n.t', namespace: 'n', task: 't', options: { leaseTime: 9 } },
  })
  await pushNames(call, 'n.t', ['a', 'b', 'c', 'd'])
  await pushNames(call, 'n.t', ['e', 'f'])
  await pushNames(call, 'other', ['x'])
  const first = await take(call, 'n.t', 4)
  for (const name of ['a', 'b', 'c']) await ackOne(call, first, name)
  await ackOne(call, first, 'd', { status: 'dlq', error: 'broken' })
  await take(call, 'n.t', 1)
  await take(call, 'n.t', 1)
})
afterAll(() => broker.stop())

async function status(query = '') {
  return described(overallStatus, 200, await broker.call(`GET /api/v1/status${query}`))
}

describe('GET /api/v1/status', () => {
  it('counts the traffic of one queue exactly', async () => {
    const body = await status('?queue=n.t')
    expect(body.messages).toMatchObject({
      total: 6,
      pending: 2,
      processing: 1,
      completed: 4,
      deadLetter: 1,
      requests: { push: 2, pop: 3, ack: 4 },
      batchEfficiency: { push: 3, pop: 2.5, ack: 1 },
    })
    expect(body.leases).toMatchObject({ active: 1, partitionsWithLeases: 1, totalBatchSize: 1 })
    expect(body.deadLetterQueue).toEqual({
      totalMessages: 1,
      affectedPartitions: 1,
      topErrors: [{ error: 'broken', count: 1 }],
    })
    expect(body.errors).toEqual({ dbErrors: 0, ackFailed: 1, dlqMessages: 1 })
    expect(body.queues).toMatchObject([{ name: 'n.t', namespace: 'n', task: 't', partitions: 1 }])
  })

  it('has a series, newest first, whose sums are the traffic', async () => {
    const { throughput, pointCount, bucketMinutes } = await status()
    expect(bucketMinutes).toBe(1)
    expect(throughput).toHaveLength(pointCount)
    const times = throughput.map((point: { timestamp: string }) => point.timestamp)
    expect(times).toEqual(times.toSorted().toReversed())
    const sum = (member: string) =>
      throughput.reduce((all: number, point: Record<string, number>) => all + point[member]!, 0)
    expect([sum('ingested'), sum('popMessages'), sum('processed')]).toEqual([7, 5, 3])
    expect([sum('ackFailed'), sum('dlqCount')]).toEqual([1, 1])
  })

  it('names this process', async () => {
    expect((await status()).workers).toMatchObject([{ workerId: 'w', messagesProcessed: 12 }])
  })

  it('filters by namespace and task, and is empty for a span without traffic', async () => {
    expect((await status('?namespace=n&task=t')).messages.total).toBe(6)
    expect((await status('?namespace=nowhere')).messages.total).toBe(0)
    const past = await status('?from=2020-01-01T00:00:00Z&to=2020-01-02T00:00:00Z')
    expect(past).toMatchObject({ bucketMinutes: 15, pointCount: 0, throughput: [] })
    expect(past.timeRange).toEqual({
      from: '2020-01-01T00:00:00.000Z',
      to: '2020-01-02T00:00:00.000Z',
    })
  })
})

describe('GET /api/v1/status/queues', () => {
  it('pages through the queues, newest first', async () => {
    const all = await broker.call('GET /api/v1/status/queues')
    expect(described(statusQueues, 200, all)).toMatchObject({
      queues: [{ name: 'other' }, { name: 'n.t', messages: { total: 6, pending: 2 } }],
      pagination: { limit: 100, offset: 0, total: 2 },
    })
    const page = await broker.call('GET /api/v1/status/queues?limit=1&offset=1&namespace=n')
    expect(described(statusQueues, 200, page)).toMatchObject({
      queues: [],
      pagination: { limit: 1, offset: 1, total: 1 },
    })
  })
})

describe('GET /api/v1/status/queues/:queue', () => {
  it('shows options, partitions and totals', async () => {
    const reply = await broker.call('GET /api/v1/status/queues/n.t')
    const body = described(statusQueue, 200, reply)
    expect(body.queue.config).toEqual({
      leaseTime: 9,
      retryLimit: 3,
      retryDelay: 1000,
      ttl: 3600,
      maxQueueSize: 0,
      deadLetterQueue: true,
    })
    expect(body.partitions).toMatchObject([
      {
        name: 'Default',
        messages: { total: 6, pending: 2, completed: 4, deadLetter: 1 },
        cursor: { totalConsumed: 3 },
      },
    ])
    expect(body.partitions[0].stats).toEqual(body.partitions[0].messages)
    expect(body.totals).toMatchObject({ total: 6, messages: { total: 6 } })
  })

  it('is 404 for an unknown queue', async () => {
    described(statusQueue, 404, await broker.call('GET /api/v1/status/queues/nowhere'))
  })
})

describe('GET /api/v1/status/analytics', () => {
  it.each(['minute', 'hour', 'day'])('counts messages per %s', async (interval) => {
    const reply = await broker.call(`GET /api/v1/status/analytics?interval=${interval}`)
    const body = described(statusAnalytics, 200, reply)
    expect(body.interval).toBe(interval)
    const sum = body.dataPoints.reduce(
      (all: number, point: { messages: number }) => all + point.messages,
      0,
    )
    expect(sum).toBe(7)
  })

  it('is per hour over the last 24 hours by default', async () => {
    const body = described(statusAnalytics, 200, await broker.call('GET /api/v1/status/analytics'))
    expect(body.interval).toBe('hour')
    expect(Date.parse(body.to) - Date.parse(body.from)).toBe(86_400_000)
  })
})
