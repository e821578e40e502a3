import { describe, expect, test } from 'vitest'
import type { PushItem } from '../../../src/queue/store.ts'
import { Bench, item, SECOND_US, type StoreFactory } from './bench.ts'

function numbered(count: number, partition: string, more: Partial<PushItem> = {}): PushItem[] {
  return Array.from({ length: count }, (_, i) => item(partition, i + 1, more))
}

/** Queue API 3.2 to 3.6, 5.4 and 7.1 as every store must keep them. */
export function popContract(open: StoreFactory): void {
  describe('pop', () => {
    const bench = new Bench(open)

    test('the batch is filled from the claimed partition, in order', async () => {
      await bench.push(...numbered(5, 'p'))
      expect(await bench.payloads({ batch: 3 })).toEqual([1, 2, 3])
    })

    test('one partition is taken unless more are asked for; the batch caps the sum', async () => {
      await bench.push(...numbered(2, 'a'), ...numbered(2, 'b'), ...numbered(2, 'c'))
      expect((await bench.pop({ group: 'one' })).claims).toHaveLength(1)
      const two = await bench.pop({ group: 'two', partitions: 2 })
      expect(two.claims).toHaveLength(2)
      const capped = await bench.pop({ group: 'all', partitions: 0, batch: 5 })
      expect(capped.claims.map(({ messages }) => messages.length)).toEqual([2, 2, 1])
    })

    test('a live lease blocks its partition for its group, also what lies behind it', async () => {
      await bench.push(...numbered(3, 'p'))
      await bench.claim({ batch: 1 })
      const blocked = await bench.pop()
      expect(blocked).toMatchObject({ claims: [], leaseId: '', unfinished: false })
      expect(blocked.nextReadyAtMs).toBe((bench.nowUs + 300 * SECOND_US) / 1000)
      expect(await bench.payloads({ scope: { queue: 'q', partition: 'p' } })).toEqual([])
      expect(await bench.payloads({ group: 'g' })).toEqual([1, 2, 3])
    })

    test('after its expiry the batch comes again under another lease', async () => {
      await bench.push(...numbered(2, 'p'))
      const first = await bench.claim({ leaseSeconds: 5 })
      bench.pass(5)
      const second = await bench.claim()
      expect(second.messages).toEqual(first.messages)
      expect(second.leaseId).not.toBe(first.leaseId)
      expect(second.retryCount).toBe(0)
    })

    test('autoAck leaves no lease and goes on behind what it gave', async () => {
      await bench.push(...numbered(3, 'p'))
      expect(await bench.claim({ autoAck: true, batch: 2 })).toMatchObject({ leaseId: '' })
      expect(await bench.payloads({ autoAck: true })).toEqual([3])
      expect(await bench.payloads()).toEqual([])
    })

    test('no two pops of one commit get the same message', async () => {
      await bench.push(...numbered(1, 'a'), ...numbered(1, 'b'), ...numbered(1, 'c'))
      const seen: string[] = []
      for (let i = 0; i < 3; i += 1) seen.push((await bench.claim({ batch: 1 })).partition)
      expect(seen.toSorted()).toEqual(['a', 'b', 'c'])
      expect(await bench.payloads()).toEqual([])
    })

    test('no partition starves while others are always full', async () => {
      for (const name of ['a', 'b', 'c']) await bench.push(...numbered(9, name))
      const order: string[] = []
      for (let i = 0; i < 9; i += 1) {
        bench.nowUs += 1000
        const claim = await bench.claim({ batch: 1 })
        await bench.ack([bench.ackOf(claim, 0)])
        order.push(claim.partition)
      }
      const turns = ['a', 'b', 'c'].map((name) => order.filter((one) => one === name).length)
      expect(Math.min(...turns)).toBeGreaterThanOrEqual(2)
    })

    test('the ready-list costs no more with thousands of partitions, and finds each once', async () => {
      const names = Array.from({ length: 3000 }, (_, i) => `p${i}`)
      for (let i = 0; i < names.length; i += 500) {
        await bench.push(...names.slice(i, i + 500).map((name) => item(name, name)))
      }
      const seen = new Set<string>()
      for (let tries = 0; seen.size < names.length && tries < 4000; tries += 1) {
        const { claims } = await bench.pop({ batch: 1, autoAck: true })
        for (const { partition } of claims) seen.add(partition)
      }
      expect(seen.size).toBe(names.length)
    })
  })

  describe('delay and window', () => {
    const bench = new Bench(open)

    test('a delayed message comes when it is old enough, and later ones wait behind it', async () => {
      await bench.configure({ delayedProcessing: 2 })
      await bench.push(item('p', 1))
      bench.pass(1)
      await bench.push(item('p', 2))
      const waiting = await bench.pop()
      expect(waiting.claims).toEqual([])
      expect(waiting.nextReadyAtMs).toBeGreaterThan(bench.nowUs / 1000)
      bench.pass(1.5)
      expect(await bench.payloads({ autoAck: true })).toEqual([1])
      bench.pass(1)
      expect(await bench.payloads()).toEqual([2])
    })

    test('a push to a waiting group says when its message matures', async () => {
      await bench.configure({ delayedProcessing: 2 })
      await bench.pop()
      await bench.push(item('Default', 1))
      const [wake] = bench.wakes
      expect(wake?.atMs).toBeGreaterThanOrEqual(bench.nowUs / 1000 + 2000)
    })

    test('a window holds the whole partition until its newest message is old enough', async () => {
      await bench.configure({ windowBuffer: 2 })
      await bench.push(item('p', 1))
      bench.pass(1.5)
      await bench.push(item('p', 2))
      bench.pass(1)
      expect(await bench.payloads()).toEqual([])
      bench.pass(1.5)
      expect(await bench.payloads()).toEqual([1, 2])
    })

    test('a shorter delay counts at once for what is stored', async () => {
      await bench.configure({ delayedProcessing: 100 })
      await bench.push(item('p', 1))
      bench.pass(5)
      expect(await bench.payloads()).toEqual([])
      await bench.configure({ delayedProcessing: 3 })
      expect(bench.wakes).toMatchObject([{ queue: 'q' }])
      expect(await bench.payloads()).toEqual([1])
    })
  })

  describe('the first contact of a group', () => {
    const bench = new Bench(open)
    const group = 'g'

    test('new begins with what is pushed after it, even in the same microsecond', async () => {
      await bench.push(...numbered(3, 'p'))
      const subscription = { mode: 'new' } as const
      expect(await bench.payloads({ group, subscription })).toEqual([])
      await bench.push(item('p', 4), item('p2', 5))
      expect(await bench.payloads({ group, partitions: 0 })).toEqual([4, 5])
    })

    test('it is fixed: a later pop with another mode changes nothing', async () => {
      await bench.push(item('p', 1))
      await bench.pop({ group, subscription: { mode: 'new' } })
      expect(await bench.payloads({ group, subscription: { mode: 'all' } })).toEqual([])
    })

    test('it holds on an empty queue and on one that does not exist yet', async () => {
      await bench.pop({ group, subscription: { mode: 'new' } })
      const filter = { namespace: null, task: null, search: null, limit: null, offset: 0 }
      expect((await bench.read('queues', filter)).rows).toEqual([])
      await bench.push(...numbered(3, 'p'))
      expect(bench.wakes).toMatchObject([{ queue: 'q' }])
      expect(await bench.payloads({ group })).toEqual([1, 2, 3])
    })

    test('a timestamp begins with the first message at or after it, also one in the future', async () => {
      await bench.push(item('p', 1))
      bench.pass(10)
      const fromUs = bench.nowUs
      await bench.push(item('p', 2))
      const subscription = { mode: 'timestamp', fromUs } as const
      expect(await bench.payloads({ group, subscription })).toEqual([2])
      const later = { mode: 'timestamp', fromUs: bench.nowUs + 5 * SECOND_US } as const
      expect(await bench.payloads({ group: 'later', subscription: later })).toEqual([])
      bench.pass(1)
      await bench.push(item('p', 3))
      expect(await bench.payloads({ group: 'later' })).toEqual([])
      bench.pass(5)
      await bench.push(item('p', 4))
      expect(await bench.payloads({ group: 'later' })).toEqual([4])
    })

    test('without a group everything is delivered whatever the mode', async () => {
      await bench.push(item('p', 1))
      expect(await bench.payloads({ subscription: { mode: 'new' } })).toEqual([1])
    })

    test('a partition born later delivers all it has', async () => {
      await bench.push(item('p', 1))
      await bench.pop({ group, subscription: { mode: 'new' } })
      await bench.push(item('young', 2))
      expect(await bench.payloads({ group })).toEqual([2])
    })
  })

  describe('pop by namespace and task', () => {
    const bench = new Bench(open)
    const scope = { namespace: 'ns', task: null }

    async function queues(): Promise<void> {
      await bench.push(
        item('p', 'a', { queue: 'a', namespace: 'ns', task: 't1' }),
        item('p', 'b', { queue: 'b', namespace: 'ns', task: 't2' }),
        item('p', 'c', { queue: 'c', namespace: 'other', task: 't1' }),
      )
    }

    test('a queue must match both', async () => {
      await queues()
      expect(await bench.payloads({ scope: { namespace: 'ns', task: 't1' } })).toEqual(['a'])
      expect(await bench.payloads({ scope: { namespace: null, task: 't2' } })).toEqual(['b'])
      expect(await bench.payloads({ scope: { namespace: 'no', task: 't1' } })).toEqual([])
    })

    test('queues of higher priority come first', async () => {
      await queues()
      await bench.configure({ priority: 5 }, 'b')
      expect(await bench.payloads({ scope })).toEqual(['b'])
      expect(await bench.payloads({ scope })).toEqual(['a'])
    })

    test('every matching queue is registered, and a new one wakes', async () => {
      await queues()
      await bench.pop({ scope, group: 'g', subscription: { mode: 'new' } })
      await bench.push(item('p', 'a2', { queue: 'a' }), item('p', 'b2', { queue: 'b' }))
      expect(await bench.payloads({ scope, group: 'g', partitions: 0 })).toEqual(['a2', 'b2'])
      await bench.push(item('p', 'd', { queue: 'd', namespace: 'ns' }))
      expect(bench.wakes).toMatchObject([{ queue: 'd', namespace: 'ns' }])
    })
  })
}
