import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { MessageFilter, MessageStatus } from '../../../src/queue/store.ts'
import { ALL_MESSAGES } from '../../support/queue-args.ts'
import {
  item,
  type OpenTestStore,
  popOf,
  START_US,
  type TestStore,
} from '../../support/queue-store.ts'

/** Queue API 10.1 to 10.3: messages as every store must show them. */
export function messageContract(openTestStore: OpenTestStore): void {
  const NOBODY = { producerSub: null }
  const SECOND_US = 1_000_000
  let store: TestStore

  beforeEach(async () => {
    store = await openTestStore()
  })
  afterEach(() => store.close())

  async function push(queue: string, names: readonly string[], partition = 'Default') {
    for (const name of names) {
      const items = [item(queue, name, { partition, transactionId: name })]
      await store.write('push', { items, ...NOBODY })
      store.clock.us += SECOND_US
    }
  }

  function list(more: Partial<MessageFilter> = {}) {
    return store.read('messages', {
      ...ALL_MESSAGES,
      ...more,
    })
  }

  async function names(more: Partial<MessageFilter> = {}): Promise<string[]> {
    return (await list(more)).rows.map(({ transactionId }) => transactionId)
  }

  async function lease(queue: string, batch: number, group = '__QUEUE_MODE__') {
    const { claims, leaseId } = await store.write('pop', popOf(queue, { batch, group }))
    const [first] = claims
    if (first === undefined) throw new Error('nothing to lease')
    return {
      group,
      leaseId,
      partitionId: first.partitionId,
      ids: first.messages.map(({ transactionId }) => transactionId),
    }
  }

  async function ack(
    leased: Awaited<ReturnType<typeof lease>>,
    transactionId: string,
    status: 'completed' | 'dlq' = 'completed',
  ) {
    const { group, leaseId, partitionId } = leased
    const items = [{ transactionId, partitionId, leaseId, status, error: 'bad' }]
    await store.write('ack', { group, items })
  }

  describe('the list of messages', () => {
    it('is newest first over all partitions', async () => {
      await push('q', ['a1'], 'a')
      await push('q', ['b1'], 'b')
      await push('q', ['a2'], 'a')
      expect(await names()).toEqual(['a2', 'b1', 'a1'])
    })

    it('filters by queue, partition, namespace and task', async () => {
      await push('n.t', ['x'])
      await push('n.u', ['y'], 'p')
      await push('m', ['z'])
      expect(await names({ queue: 'n.t' })).toEqual(['x'])
      expect(await names({ partition: 'p' })).toEqual(['y'])
      expect(await names({ namespace: 'n' })).toEqual(['y', 'x'])
      expect(await names({ namespace: 'n', task: 't' })).toEqual(['x'])
    })

    it('takes both ends of its span', async () => {
      await push('q', ['a', 'b', 'c', 'd'])
      const span = { fromUs: START_US + SECOND_US, toUs: START_US + 2 * SECOND_US }
      expect(await list(span)).toMatchObject({ total: 2 })
      expect(await names(span)).toEqual(['c', 'b'])
    })

    it('pages without gaps over many partitions', async () => {
      const all: string[] = []
      for (let at = 0; at < 60; at += 1) {
        all.push(`m${at}`)
        await push('q', [`m${at}`], `p${at % 7}`)
      }
      const pages: string[] = []
      for (let offset = 0; offset < 60; offset += 8) {
        pages.push(...(await names({ limit: 8, offset })))
      }
      expect(pages).toEqual(all.toReversed())
      expect(await list({ limit: 0 })).toMatchObject({ rows: [], total: 60 })
    })

    it('lists each status as the single messages have it', async () => {
      await push('q', ['a', 'b', 'c', 'd', 'e', 'f'])
      const first = await lease('q', 2)
      await ack(first, 'a')
      await ack(first, 'b', 'dlq')
      await lease('q', 2)
      const byStatus: Record<MessageStatus, string[]> = {
        completed: ['a'],
        dead_letter: ['b'],
        processing: ['d', 'c'],
        pending: ['f', 'e'],
      }
      for (const [status, wanted] of Object.entries(byStatus)) {
        const found = await list({ status: status as MessageStatus })
        expect(found.rows.map(({ transactionId }) => transactionId)).toEqual(wanted)
        expect(found.rows.every((row) => row.status === status)).toBe(true)
        expect(found.total).toBe(wanted.length)
      }
    })

    it('counts groups that have passed a message, and names the mode', async () => {
      await push('q', ['a', 'b'])
      expect((await list()).mode).toEqual({ hasQueueMode: false, busGroups: 0 })
      const leased = await lease('q', 1, 'g1')
      await ack(leased, 'a')
      await lease('q', 2, 'g2')
      const { rows, mode } = await list()
      expect(mode).toEqual({ hasQueueMode: false, busGroups: 2 })
      expect(rows.find(({ transactionId }) => transactionId === 'a')).toMatchObject({
        consumedBy: 1,
        totalGroups: 2,
        status: 'processing',
        queueStatus: 'pending',
      })
    })
  })

  describe('one message', () => {
    it('tells how far each consumer is, and when its lease ends', async () => {
      await push('q', ['a'])
      const leased = await lease('q', 1)
      const nowUs = store.clock.us
      await lease('q', 1, 'g')
      const detail = await store.read('message', {
        partitionId: leased.partitionId,
        transactionId: 'a',
      })
      expect(detail?.consumers).toEqual([
        { group: '__QUEUE_MODE__', consumed: false, leaseExpiresAtUs: nowUs + 300 * SECOND_US },
        { group: 'g', consumed: false, leaseExpiresAtUs: nowUs + 300 * SECOND_US },
      ])
      expect(detail?.message.status).toBe('processing')
    })

    it('has the error of its newest dead letter', async () => {
      await push('q', ['a'])
      const leased = await lease('q', 1)
      await ack(leased, 'a', 'dlq')
      const address = { partitionId: leased.partitionId, transactionId: 'a' }
      expect(await store.read('message', address)).toMatchObject({ errorMessage: 'bad' })
    })

    it('is null for an unknown address', async () => {
      await push('q', ['a'])
      const { partitionId } = await lease('q', 1)
      expect(await store.read('message', { partitionId, transactionId: 'x' })).toBeNull()
      expect(await store.read('message', { partitionId: 'x', transactionId: 'a' })).toBeNull()
    })
  })

  describe('deleting a message', () => {
    it('leaves order, cursors and lag of the others intact', async () => {
      await push('q', ['a', 'b', 'c', 'd'])
      const first = await lease('q', 1)
      await ack(first, 'a')
      const { partitionId } = first
      for (const transactionId of ['a', 'c']) {
        const deleted = await store.write('deleteMessage', { partitionId, transactionId })
        expect(deleted).toEqual({ deleted: true })
      }
      expect(await names()).toEqual(['d', 'b'])
      expect(await list({ status: 'pending' })).toMatchObject({ total: 2 })
      const detail = await store.read('queueDetail', { queue: 'q' })
      expect(detail?.queue.counts).toMatchObject({ total: 2, pending: 2, completed: 0 })
      expect((await lease('q', 10)).ids).toEqual(['b', 'd'])
    })

    it('removes its dead letters', async () => {
      await push('q', ['a'])
      const leased = await lease('q', 1)
      await ack(leased, 'a', 'dlq')
      const { partitionId } = leased
      await store.write('deleteMessage', { partitionId, transactionId: 'a' })
      const detail = await store.read('queueDetail', { queue: 'q' })
      expect(detail?.queue.counts).toMatchObject({ total: 0, deadLetter: 0 })
    })

    it('ends the lease that held nothing else, and shortens one that held more', async () => {
      await push('q', ['a', 'b', 'c'])
      const leased = await lease('q', 2)
      const { partitionId } = leased
      await store.write('deleteMessage', { partitionId, transactionId: 'b' })
      await ack(leased, 'a')
      // The batch is done with its last message gone, so the next one is free at once.
      const next = await lease('q', 1)
      expect(next.ids).toEqual(['c'])
      await store.write('deleteMessage', { partitionId, transactionId: 'c' })
      await push('q', ['d'])
      expect((await lease('q', 1)).ids).toEqual(['d'])
    })

    it('tells an unknown address from a known one', async () => {
      await push('q', ['a'])
      const { partitionId } = await lease('q', 1)
      const unknown = { partitionId, transactionId: 'x' }
      expect(await store.write('deleteMessage', unknown)).toEqual({ deleted: false })
    })
  })
}
