import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import {
  GAUGES,
  QUEUE_COLUMN_NAMES,
  QUEUE_COLUMNS,
  type Sample,
} from '../../../src/queue/metrics/columns.ts'
import { GaugeRun } from '../../../src/queue/metrics/gauges.ts'
import { noFigures } from '../../../src/queue/metrics/tally.ts'
import type { OpsReads } from '../../../src/queue/store.ts'
import {
  item,
  type OpenTestStore,
  popOf,
  START_US,
  type TestStore,
} from '../../support/queue-store.ts'

/** The history of metrics and old traces, in every store. */
export function historyContract(openTestStore: OpenTestStore): void {
  const START_MS = START_US / 1000
  const MINUTE = 60_000
  const DAY = 86_400_000

  let store: TestStore
  beforeEach(async () => {
    store = await openTestStore()
  })
  afterEach(() => store.close())

  function sampled(value: number) {
    const run = new GaugeRun()
    run.add(Object.fromEntries(GAUGES.map((gauge) => [gauge, value])) as Sample)
    return run.take() ?? null
  }

  async function record(
    atMs: number,
    queue: string,
    figures: object,
    more: { workerId?: string; gauge?: number } = {},
  ) {
    const { workerId = 'w', gauge } = more
    await store.write('recordMetrics', {
      process: { hostname: 'h', workerId, port: 1 },
      atMs,
      queues: [[queue, { ...noFigures(), ...figures }]],
      sampled: gauge === undefined ? null : sampled(gauge),
    })
  }

  function series(more: Partial<OpsReads['queueSeries']['args']> = {}) {
    return store.read('queueSeries', {
      fromMs: START_MS,
      toMs: START_MS + DAY,
      bucketMs: 5 * MINUTE,
      queue: null,
      namespace: null,
      task: null,
      byQueue: true,
      ...more,
    })
  }

  describe('the history of metrics', () => {
    it('keeps every figure of the table, added up or highest, in its bucket', async () => {
      const all = Object.fromEntries(QUEUE_COLUMN_NAMES.map((name, at) => [name, at + 1]))
      await record(START_MS, 'q', all)
      await record(START_MS, 'q', all)
      await record(START_MS + 4 * MINUTE, 'q', all)
      await record(START_MS + 5 * MINUTE, 'q', all)
      const [first, second, ...rest] = await series()
      const times = (factor: number) =>
        Object.fromEntries(
          QUEUE_COLUMN_NAMES.map((name, at) => [
            name,
            QUEUE_COLUMNS[name] === 'sum' ? factor * (at + 1) : at + 1,
          ]),
        )
      expect(first).toMatchObject({ bucketMs: START_MS, queue: 'q', figures: times(3) })
      expect(second).toMatchObject({ bucketMs: START_MS + 5 * MINUTE, figures: times(1) })
      expect(rest).toEqual([])
      const totals = await store.read('metricTotals', null)
      expect(totals.pushRequests).toBe(4)
    })

    it('tells processes apart, and adds queues up on demand', async () => {
      await record(START_MS, 'a', { pushMessages: 1 })
      await record(START_MS, 'b', { pushMessages: 2 })
      await record(START_MS, 'a', { pushMessages: 4 }, { workerId: 'v' })
      const apart = await series()
      expect(
        apart.map((point) => [point.queue, point.workerId, point.figures.pushMessages]),
      ).toEqual([
        ['a', 'w', 1],
        ['a', 'v', 4],
        ['b', 'w', 2],
      ])
      const together = await series({ byQueue: false })
      expect(together.map((point) => [point.queue, point.figures.pushMessages])).toEqual([
        ['', 3],
        ['', 4],
      ])
      expect(await series({ queue: 'b' })).toHaveLength(1)
    })

    it('picks the queues of a namespace and a task', async () => {
      await store.write('push', { items: [item('n.t', 1)], producerSub: null })
      await record(START_MS, 'n.t', { pushMessages: 1 })
      await record(START_MS, 'other', { pushMessages: 1 })
      expect(await series({ namespace: 'n' })).toHaveLength(1)
      expect(await series({ namespace: 'n', task: 't' })).toHaveLength(1)
      expect(await series({ task: 'x' })).toEqual([])
    })

    it('joins the samples of a process', async () => {
      await record(START_MS, 'q', {}, { gauge: 5 })
      await record(START_MS, 'q', {}, { gauge: 1 })
      await record(START_MS + MINUTE, 'q', {}, { gauge: 3 })
      const points = await store.read('processSeries', {
        fromMs: START_MS,
        toMs: START_MS + DAY,
        bucketMs: 5 * MINUTE,
      })
      expect(points).toMatchObject([
        { samples: 3, gauges: { rssBytes: { sum: 9, min: 1, max: 5, last: 3 } } },
      ])
    })

    it('forgets what is older than it should be, in steps', async () => {
      for (let at = 0; at < 5; at += 1) {
        await record(START_MS + at * MINUTE, 'q', { pushMessages: 1 }, { gauge: 1 })
      }
      const beforeMs = START_MS + 3 * MINUTE
      expect(await store.write('pruneHistory', { beforeMs, limit: 2 })).toEqual({ deleted: 4 })
      expect(await store.write('pruneHistory', { beforeMs, limit: 2 })).toEqual({ deleted: 2 })
      expect(await store.write('pruneHistory', { beforeMs, limit: 2 })).toEqual({ deleted: 0 })
      expect(await series({ bucketMs: MINUTE })).toHaveLength(2)
      expect((await store.read('metricTotals', null)).pushMessages).toBe(5)
    })
  })

  describe('old traces', () => {
    async function trace(names: readonly string[]) {
      const { claims } = await store.write('pop', popOf('q', { autoAck: false, group: 'g' }))
      const partitionId = claims[0]?.partitionId ?? (await partition())
      await store.write('addTrace', {
        partitionId,
        transactionId: 't',
        group: 'g',
        names,
        eventType: 'info',
        workerId: null,
        data: '{}',
      })
    }

    async function partition() {
      const detail = await store.read('queueDetail', { queue: 'q' })
      return detail?.partitions[0]?.id ?? ''
    }

    beforeEach(async () => {
      await store.write('push', {
        items: [item('q', 1, { transactionId: 't' })],
        producerSub: null,
      })
    })

    it('go with their names and counts when their time has come', async () => {
      await trace(['a', 'b'])
      store.clock.us += DAY * 1000
      await trace(['a'])
      const beforeMs = store.clock.us / 1000 - 1
      expect(await store.write('pruneHistory', { beforeMs, limit: 10 })).toEqual({ deleted: 1 })
      const { rows } = await store.read('traceNames', { limit: 10, offset: 0 })
      expect(rows).toMatchObject([{ name: 'a', traces: 1, messages: 1 }])
      const address = { partitionId: await partition(), transactionId: 't' }
      expect(await store.read('messageTraces', address)).toHaveLength(1)
    })

    it('the last trace of a message under a name takes the message out of its count', async () => {
      await trace(['a'])
      await trace(['a'])
      // Ids never step back, so those of this test may be as late as those of the one before.
      const beforeMs = store.clock.us / 1000 + 2 * DAY
      await store.write('pruneHistory', { beforeMs, limit: 1 })
      expect((await store.read('traceNames', { limit: 9, offset: 0 })).rows).toMatchObject([
        { traces: 1, messages: 1 },
      ])
      await store.write('pruneHistory', { beforeMs, limit: 1 })
      expect((await store.read('traceNames', { limit: 9, offset: 0 })).total).toBe(0)
    })
  })
}
