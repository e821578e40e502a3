import { describe, expect, test } from 'vitest'
import { DEFAULT_OPTIONS } from '../../../src/queue/model.ts'
import type { SeekTarget } from '../../../src/queue/store.ts'
import { Bench, item, type StoreFactory } from './bench.ts'

/** Queue API 5.1, 7 and 9 as every store must keep them. */
export function adminContract(open: StoreFactory): void {
  describe('configure', () => {
    const bench = new Bench(open)
    const args = { queue: 'q', namespace: null, task: null }

    test('a new queue has every option at its default and a Default partition', async () => {
      const result = await bench.configure({})
      expect(result).toMatchObject({ namespace: '', task: '', options: DEFAULT_OPTIONS })
      const [pushed] = await bench.push(item('Default', 1))
      expect(pushed?.partitionId).toBe(result.partitionId)
      expect((await bench.configure({})).queueId).toBe(result.queueId)
    })

    test('merge keeps what is absent, null goes back to the default, fractions are cut off', async () => {
      await bench.configure({ leaseTime: 10, retryLimit: 7, encryptionEnabled: true })
      const { options } = await bench.configure({ retryLimit: null, priority: 2.9 })
      expect(options).toEqual({
        ...DEFAULT_OPTIONS,
        leaseTime: 10,
        encryptionEnabled: true,
        priority: 2,
      })
    })

    test('replace takes what is absent back to its default', async () => {
      await bench.configure({ leaseTime: 10, retryLimit: 7 })
      const options = { retryLimit: 1 }
      const result = await bench.write('configure', { ...args, options, mode: 'replace' })
      expect(result.options).toEqual({ ...DEFAULT_OPTIONS, retryLimit: 1 })
    })

    test('labels that are not given stay as they are', async () => {
      const labels = { namespace: 'ns', task: 'job' }
      await bench.write('configure', { queue: 'q', ...labels, options: {}, mode: 'merge' })
      expect(await bench.configure({})).toMatchObject(labels)
    })

    test('minPopWaitTime is kept between 0 and a minute, numbers inside 32 bits', async () => {
      const { options } = await bench.configure({ minPopWaitTime: 90_000, leaseTime: 1e15 })
      expect(options).toMatchObject({ minPopWaitTime: 60_000, leaseTime: 2_147_483_647 })
      await bench.push(item('Default', 1))
      expect(await bench.payloads()).toEqual([1])
    })
  })

  describe('removal', () => {
    const bench = new Bench(open)

    test('a deleted queue is gone with all that hung on it, and begins anew', async () => {
      await bench.configure({ retryLimit: 0 })
      const [first] = await bench.push(item('Default', 1, { transactionId: 't' }))
      const claim = await bench.claim()
      await bench.ack([bench.ackOf(claim, 0, 'failed')])
      expect(await bench.write('deleteQueue', { queue: 'q' })).toEqual({ existed: true })
      expect(bench.wakes).toMatchObject([{ queue: 'q' }])
      expect(await bench.write('deleteQueue', { queue: 'q' })).toEqual({ existed: false })
      expect(await bench.read('queueDetail', { queue: 'q' })).toBeNull()
      expect(await bench.dead()).toEqual([])
      expect((await bench.ack([bench.ackOf(claim, 0)]))[0]?.error).toBe('Message not found')
      const [second] = await bench.push(item('Default', 2, { transactionId: 't' }))
      expect(second?.status).toBe('queued')
      expect(second?.partitionId).not.toBe(first?.partitionId)
      await bench.job('purge')
      expect(await bench.payloads()).toEqual([2])
    })

    test('clear removes messages alone, and leaves the cursors at the end', async () => {
      await bench.push(item('a', 1), item('a', 2, { transactionId: 't' }), item('b', 3))
      const claim = await bench.claim({ scope: { queue: 'q', partition: 'a' } })
      const clear = (partition: string | null) =>
        bench.write('clearQueue', { queue: 'q', partition, after: null, limit: 100 })
      expect(await clear('a')).toEqual({ found: true, deleted: 2, next: null })
      expect((await bench.ack([bench.ackOf(claim, 0)]))[0]?.success).toBe(false)
      expect((await bench.push(item('a', 4, { transactionId: 't' })))[0]?.status).toBe('queued')
      await bench.job('purge')
      expect((await bench.payloads({ partitions: 0 })).toSorted()).toEqual([3, 4])
      expect(await clear(null)).toMatchObject({ deleted: 2 })
      expect(await clear('none')).toMatchObject({ found: false })
      await bench.push(item('a', 5))
      expect(await bench.payloads({ group: 'late', partitions: 0 })).toEqual([5])
    })

    test('clear goes over many partitions in steps', async () => {
      await bench.push(...Array.from({ length: 7 }, (_, i) => item(`p${i}`, i)))
      let after: number | null = null
      let steps = 0
      do {
        const args = { queue: 'q', partition: null, after, limit: 3 }
        const step: { next: number | null } = await bench.write('clearQueue', args)
        after = step.next
        steps += 1
      } while (after !== null)
      expect(steps).toBe(3)
      expect(await bench.payloads()).toEqual([])
    })
  })

  describe('groups', () => {
    const bench = new Bench(open)
    const group = 'g'
    const drop = (queue: string | null, deleteMetadata: boolean) =>
      bench.write('deleteGroup', { group, queue, deleteMetadata })

    test('deleting a group with its metadata makes its next pop a first contact', async () => {
      await bench.push(item('a', 1), item('b', 2))
      const claim = await bench.claim({ group, partitions: 1 })
      expect(await drop(null, true)).toEqual({ deletedPartitions: 1, metadataDeleted: true })
      expect((await bench.ack([bench.ackOf(claim, 0)], group))[0]?.success).toBe(false)
      expect(await bench.payloads({ group, subscription: { mode: 'new' } })).toEqual([])
      await bench.job('purge')
      await bench.push(item('a', 3))
      expect(await bench.payloads({ group })).toEqual([3])
    })

    test('without its metadata it begins again from the kept subscription', async () => {
      await bench.push(item('a', 1))
      await bench.pop({ group, subscription: { mode: 'new' } })
      await bench.push(item('a', 2))
      expect(await bench.payloads({ group, autoAck: true })).toEqual([2])
      expect(await drop('q', false)).toEqual({ deletedPartitions: 1, metadataDeleted: false })
      expect(await bench.payloads({ group, subscription: { mode: 'all' } })).toEqual([2])
    })

    test('an unknown group is deleted without effect, dead letters stay', async () => {
      await bench.configure({ retryLimit: 0 })
      await bench.push(item('Default', 1))
      const claim = await bench.claim({ group })
      await bench.ack([bench.ackOf(claim, 0, 'failed')], group)
      await drop(null, true)
      expect(await drop(null, true)).toEqual({ deletedPartitions: 0, metadataDeleted: false })
      expect(await bench.dead()).toHaveLength(1)
    })

    test('a moved start matters only where the group has no cursor yet', async () => {
      await bench.push(item('a', 1), item('b', 2))
      await bench.pop({ group, subscription: { mode: 'new' } })
      await bench.write('seek', {
        group,
        queue: 'q',
        partition: 'a',
        target: { to: 'end' },
        after: null,
        limit: 100,
      })
      const startAtUs = bench.nowUs - 1
      const result = await bench.write('updateSubscription', { group, startAtUs })
      expect(result).toEqual({ rowsUpdated: 1 })
      expect(await bench.payloads({ group, partitions: 0 })).toEqual([2])
    })
  })

  describe('seek', () => {
    const bench = new Bench(open)
    const group = 'g'
    const seek = (target: SeekTarget, partition: string | null = null, queue = 'q') =>
      bench.write('seek', { group, queue, partition, target, after: null, limit: 100 })

    test('to the end skips what is stored, on a group that never popped too', async () => {
      await bench.push(item('a', 1), item('b', 2))
      expect(await seek({ to: 'end' })).toMatchObject({ found: true, updated: 2, next: null })
      await bench.push(item('a', 3))
      expect(await bench.payloads({ group, partitions: 0 })).toEqual([3])
    })

    test('a moment brings back the first message at or after it, ends leases and wakes', async () => {
      await bench.push(item('a', 1))
      bench.pass(10)
      const atUs = bench.nowUs
      await bench.push(item('a', 2), item('a', 3))
      const claim = await bench.claim({ group })
      await seek({ to: 'time', atUs })
      expect(bench.wakes).toMatchObject([{ queue: 'q', atMs: null }])
      expect((await bench.ack([bench.ackOf(claim, 0)], group))[0]?.success).toBe(false)
      expect(await bench.claim({ group })).toMatchObject({ retryCount: 0 })
      await seek({ to: 'time', atUs: 0 })
      expect(await bench.payloads({ group })).toEqual([1, 2, 3])
    })

    test('one partition is moved alone and names the message before the cursor', async () => {
      const [first] = await bench.push(item('a', 1), item('b', 2))
      expect(await seek({ to: 'end' }, 'a')).toMatchObject({
        updated: 1,
        movedTo: first?.messageId,
      })
      expect(await seek({ to: 'time', atUs: 0 }, 'a')).toMatchObject({ movedTo: null })
      expect(await seek({ to: 'end' }, 'none')).toMatchObject({ found: false })
      expect(await seek({ to: 'end' }, null, 'none')).toMatchObject({ found: false })
    })
  })

  describe('flags', () => {
    const bench = new Bench(open)

    test('both are off at first and outlive a restart', async () => {
      const off = { pushMaintenance: false, popMaintenance: false }
      expect(await bench.store.read('flags', null)).toEqual(off)
      await bench.write('setFlag', { name: 'popMaintenance', value: true })
      await bench.reopen()
      expect(await bench.store.read('flags', null)).toEqual({ ...off, popMaintenance: true })
    })
  })
}
