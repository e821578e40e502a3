import { describe, expect, test } from 'vitest'
import { QUEUE_MODE } from '../../../src/queue/model.ts'
import { Bench, item, type StoreFactory } from './bench.ts'

/** Queue API 8 and 16 as every store must keep them. */
export function upkeepContract(open: StoreFactory): void {
  describe('dead letters', () => {
    const bench = new Bench(open)

    async function dead(more = {}): Promise<string> {
      await bench.push(item('Default', { n: 1 }, { transactionId: 't', ...more }))
      await bench.ack([bench.ackOf(await bench.claim(), 0, 'dlq', 'why')])
      return (await bench.dead())[0]?.id ?? ''
    }

    const replay = (dlqId: string, queue: string | null = null) =>
      bench.write('replayDlq', { by: { dlqId }, queue, partition: null })

    test('a replay is new to all groups, keeps its sender and removes the row', async () => {
      const dlqId = await dead()
      expect(await replay(dlqId)).toMatchObject({
        result: 'moved',
        queue: 'q',
        partition: 'Default',
        consumerGroup: QUEUE_MODE,
        dlqId,
        originalTransactionId: 't',
        transactionId: `dlq:${dlqId}`,
      })
      expect(bench.wakes).toMatchObject([{ queue: 'q' }])
      expect(await bench.dead()).toEqual([])
      expect(await bench.payloads()).toEqual([{ n: 1 }])
      expect(await replay(dlqId)).toEqual({ result: 'gone' })
    })

    test('it may go elsewhere', async () => {
      expect(await replay(await dead(), 'other')).toMatchObject({ queue: 'other' })
      const scope = { queue: 'other', partition: 'Default' }
      expect(await bench.payloads({ scope })).toEqual([{ n: 1 }])
    })

    test('by the address of a message the newest row is taken', async () => {
      await bench.push(item('Default', 1, { transactionId: 't' }))
      for (const group of ['a', 'b']) {
        bench.pass(1)
        const claim = await bench.claim({ group })
        await bench.ack([bench.ackOf(claim, 0, 'dlq')], group)
      }
      const [newest] = await bench.dead()
      const by = { partitionId: newest?.partitionId ?? '', transactionId: 't' }
      const outcome = await bench.write('replayDlq', { by, queue: null, partition: null })
      expect(outcome).toMatchObject({ result: 'moved', consumerGroup: 'b', dlqId: newest?.id })
      expect(await bench.dead()).toHaveLength(1)
    })

    test('the list filters by everything it knows and counts all that match', async () => {
      await dead()
      bench.pass(10)
      await bench.push(item('other', 2), item('other', 3))
      const claim = await bench.claim({ group: 'g', scope: { queue: 'q', partition: 'other' } })
      await bench.ack([bench.ackOf(claim, 0, 'dlq')], 'g')
      const all = { queue: null, group: null, partition: null, fromUs: null, toUs: null }
      const list = (filter: object) =>
        bench.store.read('dlq', { ...all, limit: 100, offset: 0, ...filter })
      expect((await list({})).rows.map(({ payload }) => payload)).toEqual(['2', '{"n":1}'])
      expect(await list({ limit: 1, offset: 1 })).toMatchObject({
        total: 2,
        rows: [{ group: QUEUE_MODE }],
      })
      expect((await list({ group: 'g' })).total).toBe(1)
      expect((await list({ partition: 'other' })).total).toBe(1)
      expect((await list({ fromUs: bench.nowUs, toUs: bench.nowUs })).total).toBe(1)
      expect((await list({ toUs: bench.nowUs - 1 })).total).toBe(1)
      expect((await list({ queue: 'unknown' })).total).toBe(0)
    })

    test('they are deleted by queue and group', async () => {
      await dead()
      expect(await bench.write('deleteDlq', { queue: 'q', group: 'g' })).toEqual({ deleted: 0 })
      expect(await bench.write('deleteDlq', { queue: 'q', group: null })).toEqual({ deleted: 1 })
      expect(await bench.write('deleteDlq', { queue: 'none', group: null })).toEqual({ deleted: 0 })
    })

    test('only the next message of a group can be filed by hand', async () => {
      const [first, second] = await bench.push(item('p', 1), item('p', 2))
      const move = (transactionId: string) =>
        bench.write('moveToDlq', {
          partitionId: first?.partitionId ?? '',
          transactionId,
          group: 'g',
          error: null,
        })
      expect(await move(second?.transactionId ?? '')).toEqual({ result: 'not_next' })
      expect(await move('unknown')).toEqual({ result: 'unknown' })
      expect(await move(first?.transactionId ?? '')).toMatchObject({ result: 'moved' })
      expect(await bench.payloads({ group: 'g' })).toEqual([2])
      expect(await bench.dead()).toMatchObject([{ group: 'g', payload: '1' }])
    })
  })

  describe('background jobs', () => {
    const bench = new Bench(open)
    const stored = async () => (await bench.read('queueDetail', { queue: 'q' }))?.queue.counts.total

    test('retention removes what is old, consumed or not, only where it is enabled', async () => {
      await bench.configure({ retentionSeconds: 10 })
      await bench.push(item('Default', 1), item('p', 2))
      bench.pass(11)
      await bench.push(item('Default', 3))
      expect(await bench.job('retention')).toBe(0)
      await bench.configure({ retentionEnabled: true })
      expect(await bench.job('retention')).toBe(2)
      expect(await stored()).toBe(1)
      expect(await bench.payloads({ partitions: 0 })).toEqual([3])
    })

    test('a cursor that pointed into the removed range goes on at the next message', async () => {
      await bench.configure({ retentionEnabled: true, retentionSeconds: 10 })
      await bench.push(...[1, 2, 3].map((n) => item('Default', n)))
      await bench.pop({ batch: 1, autoAck: true })
      bench.pass(11)
      await bench.push(item('Default', 4))
      await bench.job('retention', 0, 1)
      expect(await bench.payloads()).toEqual([4])
    })

    test('completed retention waits for every group that has a cursor', async () => {
      await bench.configure({ retentionEnabled: true, completedRetentionSeconds: 10 })
      await bench.push(item('Default', 1), item('Default', 2))
      bench.pass(11)
      expect(await bench.job('completedRetention')).toBe(0)
      await bench.pop({ group: 'a', autoAck: true })
      await bench.pop({ group: 'b', autoAck: true, batch: 1 })
      expect(await bench.job('completedRetention')).toBe(1)
      await bench.write('deleteGroup', { group: 'b', queue: null, deleteMetadata: true })
      expect(await bench.job('completedRetention')).toBe(1)
      expect(await stored()).toBe(0)
    })

    test('eviction removes what nobody has consumed, into no dead letter', async () => {
      await bench.configure({ maxWaitTimeSeconds: 10 })
      await bench.push(...[1, 2, 3].map((n) => item('Default', n)))
      await bench.pop({ batch: 1, autoAck: true })
      bench.pass(11)
      await bench.push(item('Default', 4))
      expect(await bench.job('eviction')).toBe(2)
      expect(await bench.dead()).toEqual([])
      expect(await stored()).toBe(2)
      expect(await bench.payloads()).toEqual([4])
    })

    test('eviction leaves what a consumer is working on', async () => {
      await bench.configure({ maxWaitTimeSeconds: 10 })
      await bench.push(item('Default', 1), item('Default', 2))
      const claim = await bench.claim({ batch: 1, leaseSeconds: 60 })
      bench.pass(11)
      expect(await bench.job('eviction')).toBe(1)
      expect((await bench.ack([bench.ackOf(claim, 0)]))[0]?.success).toBe(true)
    })

    test('empty partitions go when they have been idle, and come back under a new id', async () => {
      const [first] = await bench.push(item('p', 1))
      await bench.pop({ autoAck: true })
      await bench.configure({ retentionEnabled: true, retentionSeconds: 10 })
      bench.pass(11)
      expect(await bench.job('partitionCleanup', 5)).toBe(1)
      await bench.job('retention')
      expect(await bench.job('partitionCleanup', 60)).toBe(0)
      expect(await bench.job('partitionCleanup', 5)).toBe(1)
      expect((await bench.read('queueDetail', { queue: 'q' }))?.partitions).toEqual([])
      const [second] = await bench.push(item('p', 2))
      expect(second?.partitionId).not.toBe(first?.partitionId)
      expect(await bench.payloads()).toEqual([2])
      const [group] = await bench.read('groups', {})
      expect(group).toMatchObject({ members: 1, totalLag: 1 })
    })
  })
}
