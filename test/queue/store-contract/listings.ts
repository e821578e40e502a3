import { describe, expect, test } from 'vitest'
import { QUEUE_MODE } from '../../../src/queue/model.ts'
import { Bench, item, type StoreFactory } from './bench.ts'

/** Queue API 7.2 to 7.4, 9 and 11.1: figures that every store must give alike. */
export function listingContract(open: StoreFactory): void {
  describe('listings', () => {
    const bench = new Bench(open)

    /** Two partitions, five messages: one consumed, two in a lease, one dead letter. */
    async function traffic(): Promise<void> {
      await bench.configure({ retryLimit: 0 })
      bench.nowUs += 1000
      await bench.push(...[1, 2, 3, 4].map((n) => item('a', n)), item('b', 5))
      const at = { queue: 'q', partition: 'a' }
      const first = await bench.claim({ scope: at, batch: 2 })
      await bench.ack([bench.ackOf(first, 0), bench.ackOf(first, 1, 'failed', 'broken')])
      bench.pass(10)
      await bench.claim({ scope: at, batch: 2 })
    }

    const counts = { total: 5, pending: 3, processing: 2, completed: 2, failed: 1, deadLetter: 1 }

    test('a queue shows its totals, its partitions theirs', async () => {
      await traffic()
      const detail = await bench.read('queueDetail', { queue: 'q' })
      expect(detail?.queue).toMatchObject({ name: 'q', partitions: 3, counts })
      expect(detail?.partitions.map((row) => [row.name, row.counts.total])).toEqual([
        ['Default', 0],
        ['a', 4],
        ['b', 1],
      ])
      const [empty, a] = detail?.partitions ?? []
      expect(empty).toMatchObject({ oldestMessageUs: null, newestMessageUs: null })
      expect(a?.counts).toMatchObject({ pending: 2, processing: 2, completed: 2, deadLetter: 1 })
      expect(a).toMatchObject({ totalConsumed: 1, queue: 'q' })
      expect(a?.oldestMessageUs).toBeLessThan(a?.newestMessageUs ?? 0)
      expect(await bench.read('queueDetail', { queue: 'none' })).toBeNull()
    })

    test('lists come in order, in parts and by their filters', async () => {
      await traffic()
      bench.pass(1)
      await bench.push(item('p', 1, { queue: 'ns.job' }))
      const all = { namespace: null, task: null, search: null, limit: null, offset: 0 }
      const names = async (filter: object) => {
        const { rows, total } = await bench.read('queues', { ...all, ...filter })
        return [rows.map(({ name }) => name), total]
      }
      expect(await names({})).toEqual([['ns.job', 'q'], 2])
      expect(await names({ limit: 1, offset: 1 })).toEqual([['q'], 2])
      expect(await names({ namespace: 'ns' })).toEqual([['ns.job'], 1])
      expect(await names({ search: 'job' })).toEqual([['ns.job'], 1])
      const part = await bench.read('partitions', { queue: 'q', limit: 1, offset: 1 })
      expect([part.rows.map(({ name }) => name), part.total]).toEqual([['a'], 3])
      expect((await bench.read('partitions', { queue: null, limit: 9, offset: 0 })).total).toBe(4)
      expect(await bench.read('namespaces', {})).toEqual([
        { label: '', queues: 1, partitions: 3, total: 5, pending: 3 },
        { label: 'ns', queues: 1, partitions: 1, total: 1, pending: 1 },
      ])
      expect((await bench.read('tasks', {})).map(({ label }) => label)).toEqual(['', 'job'])
    })

    test('without a consumer everything is pending; with groups the slowest one counts', async () => {
      await bench.push(item('p', 1), item('p', 2), item('p', 3))
      const pending = async () =>
        (await bench.read('queueDetail', { queue: 'q' }))?.queue.counts.pending
      expect(await pending()).toBe(3)
      await bench.pop({ group: 'fast', autoAck: true })
      expect(await pending()).toBe(0)
      await bench.pop({ group: 'slow', autoAck: true, batch: 1 })
      expect(await pending()).toBe(2)
      expect(await bench.read('depth', { queue: 'q', group: 'fast' })).toEqual({ pending: 0 })
      expect(await bench.read('depth', { queue: 'q', group: 'new' })).toEqual({ pending: 3 })
      expect(await bench.read('depth', { queue: 'none', group: 'fast' })).toBeNull()
    })

    test('groups tell their members, their lag and how they subscribed', async () => {
      await traffic()
      await bench.pop({ group: 'g', subscription: { mode: 'new' } })
      // Groups get the cursors they still lack in the background.
      await bench.job('purge')
      const groups = await bench.read('groups', {})
      expect(groups).toMatchObject([
        {
          group: QUEUE_MODE,
          queue: 'q',
          members: 1,
          partitionsWithLag: 2,
          totalLag: 3,
          maxTimeLagSeconds: expect.closeTo(10, 1),
          subscriptionMode: 'all',
        },
        { group: 'g', members: 0, partitionsWithLag: 0, totalLag: 0, subscriptionMode: 'new' },
      ])
      expect(await bench.read('groupDetail', { group: QUEUE_MODE })).toMatchObject([
        { partition: 'a', totalConsumed: 1, offsetLag: 2, leaseActive: true },
      ])
      expect(await bench.read('groupDetail', { group: 'unknown' })).toEqual([])
    })

    test('lagging partitions are those strictly above the limit, the oldest first', async () => {
      await bench.push(item('a', 1))
      bench.pass(10)
      await bench.push(item('b', 2))
      await bench.pop({ batch: 1 })
      bench.pass(10)
      const lagging = async (minLagSeconds: number) =>
        (await bench.read('lagging', { minLagSeconds })).map(({ partition }) => partition)
      expect(await lagging(5)).toEqual(['a', 'b'])
      expect(await lagging(15)).toEqual(['a'])
      expect(await lagging(3600)).toEqual([])
    })

    test('overview and status add the queues up', async () => {
      await traffic()
      await bench.push(item('p', 1, { queue: 'ns.job' }))
      const overview = await bench.read('overview', {})
      expect(overview).toMatchObject({
        queues: 2,
        partitions: 4,
        namespaces: 2,
        tasks: 2,
        counts: { ...counts, total: 6, pending: 4 },
        offsetLag: { avg: 3, median: 3, min: 3, max: 3 },
      })
      const status = await bench.read('status', { queue: 'q', namespace: null, task: null })
      expect(status).toMatchObject({
        queues: [{ name: 'q', partitions: 3, totalConsumed: 1 }],
        counts,
        leases: { active: 1, partitionsWithLeases: 1, totalBatchSize: 2, totalAcked: 1 },
        deadLetters: {
          totalMessages: 1,
          affectedPartitions: 1,
          topErrors: [{ error: 'broken', count: 1 }],
        },
      })
      const counters = await bench.read('counters', {})
      expect(counters.find(({ queue }) => queue === 'q')).toMatchObject({
        pushed: 5,
        counts,
        groups: [{ group: QUEUE_MODE, lag: 3, consumed: 1 }],
      })
    })
  })
}
