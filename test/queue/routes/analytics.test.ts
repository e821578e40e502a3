import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  queueLag,
  queueOps,
  queueParked,
  systemMetrics,
  workerMetrics,
} from '../../../src/queue/shapes/analytics.ts'
import { postgresStats, retention } from '../../../src/queue/shapes/upkeep.ts'
import { described, startTestBroker, type TestBroker } from '../../support/broker.ts'
import { STORE } from '../../support/test-store.ts'
import { ackOne, pushNames, take, until } from '../../support/traffic.ts'

let broker: TestBroker
beforeAll(async () => {
  broker = await startTestBroker({ WORKER_ID: 'w', METRICS_SAMPLE_INTERVAL_MS: '100' })
  const { call } = broker
  await pushNames(call, 'a', ['1', '2', '3'])
  await pushNames(call, 'a', ['3'])
  await pushNames(call, 'b', ['4'], 'p')
  const taken = await take(call, 'a', 2)
  await ackOne(call, taken, '1')
  await ackOne(call, taken, '2', { status: 'failed' })
  await take(call, 'nothing', 1)
  const operations = [{ type: 'push', items: [{ queue: 'b', payload: 1 }] }]
  await call('POST /api/v1/transaction', { json: { operations } })
})
afterAll(() => broker.stop())

type Point = Readonly<Record<string, number>>

function sum(points: readonly Point[], member: string): number {
  return points.reduce((all, point) => all + (point[member] ?? Number.NaN), 0)
}

describe('GET /api/v1/analytics/worker-metrics', () => {
  it('sums up the traffic exactly', async () => {
    const reply = await broker.call('GET /api/v1/analytics/worker-metrics')
    const body = described(workerMetrics, 200, reply)
    expect(body.summary).toEqual({
      totalPushMessages: 5,
      totalPopMessages: 2,
      totalAckMessages: 2,
      totalPushRequests: 3,
      totalPopRequests: 2,
      totalAckRequests: 2,
      totalDbErrors: 0,
      totalAckFailed: 1,
      totalDlq: 0,
      pendingMessages: 4,
    })
    expect(body.timeSeries).toHaveLength(body.pointCount)
    expect(sum(body.timeSeries, 'pushMessages')).toBe(5)
    expect(sum(body.timeSeries, 'lagCount')).toBe(2)
    expect(body.queues).toContainEqual(expect.objectContaining({ queueName: 'a', popCount: 2 }))
    expect(body.workers).toMatchObject([{ workerId: 'w' }])
  })
})

describe('GET /api/v1/analytics/queue-ops', () => {
  it('splits the traffic by queue, and one queue can be picked', async () => {
    const all = described(queueOps, 200, await broker.call('GET /api/v1/analytics/queue-ops'))
    expect(all.queues).toEqual(expect.arrayContaining(['a', 'b', 'nothing']))
    const one = await broker.call('GET /api/v1/analytics/queue-ops?queue=a')
    const { series } = described(queueOps, 200, one)
    expect(sum(series, 'pushRequests')).toBe(2)
    expect(sum(series, 'pushMessages')).toBe(3)
    expect(sum(series, 'popMessages')).toBe(2)
    expect(sum(series, 'ackSuccess')).toBe(1)
    expect(sum(series, 'ackFailed')).toBe(1)
    expect(sum(series, 'partitionsCreated')).toBe(1)
    expect(series[0].partitionCount).toBe(1)
    const other = await broker.call('GET /api/v1/analytics/queue-ops?queue=b')
    const ofB = described(queueOps, 200, other).series
    expect([sum(ofB, 'transactions'), sum(ofB, 'partitionsCreated')]).toEqual([1, 2])
    const empty = await broker.call('GET /api/v1/analytics/queue-ops?queue=nothing')
    expect(sum(described(queueOps, 200, empty).series, 'popEmpty')).toBe(1)
  })
})

describe('GET /api/v1/analytics/queue-lag', () => {
  it('has one row for each queue and bucket with pops', async () => {
    const reply = await broker.call('GET /api/v1/analytics/queue-lag')
    const rows = described(queueLag, 200, reply)
    expect(rows).toMatchObject([{ queueName: 'a', popCount: 2 }])
    expect(rows[0].maxLagMs).toBeGreaterThanOrEqual(rows[0].avgLagMs)
  })
})

describe('GET /api/v1/analytics/system-metrics', () => {
  it('has a series of this process, which host and worker pick', async () => {
    const reply = await broker.call('GET /api/v1/analytics/system-metrics')
    const body = described(systemMetrics, 200, reply)
    expect(body).toMatchObject({ replicaCount: 1, replicas: [{ workerId: 'w' }] })
    const [point] = body.replicas[0].timeSeries
    expect(point.metrics.memory.rss_bytes.last).toBeGreaterThan(1_000_000)
    const none = await broker.call('GET /api/v1/analytics/system-metrics?workerId=x')
    expect(described(systemMetrics, 200, none)).toMatchObject({ replicas: [], replicaCount: 0 })
  })
})

describe('GET /api/v1/analytics/queue-parked-replicas', () => {
  it('shows the pops that waited, by process', async () => {
    const gone = new AbortController()
    const waiting = broker.call('GET /api/v1/pop/queue/parked?wait=true&timeout=30000', {
      signal: gone.signal,
    })
    const read = async () => {
      const reply = await broker.call('GET /api/v1/analytics/queue-parked-replicas?queue=parked')
      return described(queueParked, 200, reply)
    }
    const body = await until(read, ({ series }) =>
      series.some((point: Point) => point['parkedCount'] === 1),
    )
    expect(body.replicas).toMatchObject([{ workerId: 'w' }])
    gone.abort()
    await waiting.catch(() => {})
  })
})

describe('GET /api/v1/analytics/retention and postgres-stats', () => {
  it('have their shapes', async () => {
    const removed = await broker.call('GET /api/v1/analytics/retention?queue=a')
    expect(described(retention, 200, removed).totals.totalMsgs).toBe(0)
  })

  it('postgres-stats shows what the server counts, and with another store only its name', async () => {
    const answer = await broker.call('GET /api/v1/analytics/postgres-stats')
    const stats = described(postgresStats, 200, answer)
    if (STORE === 'postgres') {
      const tables = stats.tableSizes.map(({ table }: { table: string }) => table)
      expect(tables).toEqual(expect.arrayContaining(['message', 'cursor', 'partition']))
      expect(stats.bufferConfig.sharedBuffers).toMatch(/B$/)
      expect(stats.databaseCache.commits).toBeGreaterThan(0)
      expect(stats.hotUpdates.length).toBe(stats.tableSizes.length)
      return
    }
    expect(stats).toMatchObject({ database: STORE, tableSizes: [], databaseCache: {} })
  })
})

describe('the span of a series', () => {
  it.each([
    ['2020-01-01T00:00:00Z', '2020-01-01T01:00:00Z', 1],
    ['2020-01-01T00:00:00Z', '2020-01-01T06:00:00Z', 5],
    ['2020-01-01T00:00:00Z', '2020-01-02T00:00:00Z', 15],
    ['2020-01-01T00:00:00Z', '2020-01-08T00:00:00Z', 60],
    ['2020-01-01T00:00:00Z', '2020-02-01T00:00:00Z', 360],
    ['nonsense', 'nonsense', 1],
  ])('from %s to %s has buckets of %d minutes', async (from, to, minutes) => {
    for (const name of ['system-metrics', 'worker-metrics', 'queue-ops', 'retention']) {
      const { body } = await broker.call(`GET /api/v1/analytics/${name}?from=${from}&to=${to}`)
      expect(body.bucketMinutes).toBe(minutes)
    }
  })
})
