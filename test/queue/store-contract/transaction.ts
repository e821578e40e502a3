import { describe, expect, test } from 'vitest'
import type { AckItem, PushItem, TransactionOp } from '../../../src/queue/store.ts'
import { Bench, item, type StoreFactory } from './bench.ts'

const push = (one: PushItem): TransactionOp => ({ type: 'push', item: one })
const ack = (one: AckItem, group = '__QUEUE_MODE__'): TransactionOp => {
  return { type: 'ack', group, item: one }
}

/** Queue API 6.4 as every store must keep it. */
export function transactionContract(open: StoreFactory): void {
  describe('transaction', () => {
    const bench = new Bench(open)
    const run = (operations: readonly TransactionOp[], requiredLeases: readonly string[] = []) =>
      bench.write('transaction', { operations, requiredLeases, producerSub: 'sub' })
    const sink = (payload: unknown, more: Partial<PushItem> = {}) =>
      item('p', payload, { queue: 'sink', ...more })

    async function nothingHappened(): Promise<void> {
      const filter = { namespace: null, task: null, search: null, limit: null, offset: 0 }
      const { rows } = await bench.read('queues', filter)
      expect(rows.map(({ name }) => name)).toEqual(['q'])
      expect(await bench.payloads({ scope: { queue: 'sink', partition: null } })).toEqual([])
    }

    test('acks and pushes over queues take effect together, in the order given', async () => {
      await bench.push(item('p', 1), item('p', 2))
      const claim = await bench.claim()
      const outcome = await run(
        [
          ack({ ...bench.ackOf(claim, 1), leaseId: null }),
          push(sink('a', { transactionId: 't' })),
          push(sink('b')),
        ],
        [claim.leaseId],
      )
      expect(outcome).toMatchObject({
        success: true,
        results: [
          { type: 'ack', transactionId: claim.messages[1]?.transactionId, dlq: false },
          { type: 'push', transactionId: 't', queueName: 'sink', duplicate: false },
          { type: 'push', queueName: 'sink', duplicate: false },
        ],
      })
      expect(bench.wakes.some(({ queue }) => queue === 'sink')).toBe(true)
      expect(await bench.payloads()).toEqual([])
      const { messages } = await bench.claim({ scope: { queue: 'sink', partition: null } })
      expect(messages.map(({ payload, producerSub }) => [payload, producerSub])).toEqual([
        ['"a"', 'sub'],
        ['"b"', 'sub'],
      ])
    })

    test('acking every message of a batch one by one ends the lease', async () => {
      await bench.push(item('p', 1), item('p', 2), item('p', 3))
      const claim = await bench.claim()
      const acks = [0, 1, 2].map((i) => ack({ ...bench.ackOf(claim, i), leaseId: null }))
      expect((await run(acks, [claim.leaseId])).success).toBe(true)
      await bench.push(item('p', 4))
      expect(await bench.payloads()).toEqual([4])
    })

    test('an unknown message leaves no trace of the rest', async () => {
      await bench.push(item('p', 1))
      const claim = await bench.claim()
      const lost = { ...bench.ackOf(claim, 0), transactionId: 'unknown' }
      const outcome = await run([push(sink('a')), ack(bench.ackOf(claim, 0)), ack(lost)])
      expect(outcome).toEqual({ success: false, error: 'Message not found' })
      expect(bench.wakes).toEqual([])
      await nothingHappened()
      expect((await bench.ack([bench.ackOf(claim, 0)]))[0]?.success).toBe(true)
    })

    test('an expired required lease leaves no trace, even when nothing is acked under it', async () => {
      await bench.push(item('p', 1))
      const claim = await bench.claim({ leaseSeconds: 5 })
      bench.pass(5)
      const outcome = await run([push(sink('a'))], [claim.leaseId])
      expect(outcome).toEqual({ success: false, error: 'invalid or expired lease' })
      await nothingHappened()
    })

    test('with several required leases the live one of the partition must be among them', async () => {
      await bench.push(item('a', 1), item('b', 2), item('c', 3))
      const claims = [await bench.claim(), await bench.claim(), await bench.claim()]
      const free = (i: number) => ({ ...bench.ackOf(claims[i]!, 0), leaseId: null })
      const listed = claims.slice(0, 2).map(({ leaseId }) => leaseId)
      expect((await run([ack(free(2))], listed)).success).toBe(false)
      expect((await run([ack(free(0)), ack(free(1))], listed)).success).toBe(true)
    })

    test('without any lease given there is no lease check', async () => {
      await bench.push(item('p', 1))
      const claim = await bench.claim({ leaseSeconds: 5 })
      bench.pass(5)
      expect((await run([ack({ ...bench.ackOf(claim, 0), leaseId: null })])).success).toBe(true)
    })

    test('a transaction id that is already stored fails it, one repeated inside does not', async () => {
      await bench.push(item('p', 1, { transactionId: 'old' }))
      const before = await run([push(sink('a')), push(item('p', 2, { transactionId: 'old' }))])
      expect(before).toMatchObject({ success: false, error: expect.stringContaining('old') })
      await nothingHappened()
      const inside = await run([
        push(sink('a', { transactionId: 'new' })),
        push(sink('b', { transactionId: 'new' })),
      ])
      expect(inside).toMatchObject({
        success: true,
        results: [{ duplicate: false }, { duplicate: true }],
      })
    })

    test('a failed ack follows the retry rules', async () => {
      await bench.configure({ retryLimit: 0 })
      await bench.push(item('Default', 1))
      const claim = await bench.claim()
      const outcome = await run([ack(bench.ackOf(claim, 0, 'failed', 'no')), push(sink('a'))])
      expect(outcome).toMatchObject({ success: true, results: [{ dlq: true }, {}] })
      expect(await bench.dead()).toHaveLength(1)
      expect(await bench.payloads()).toEqual([])
    })

    test('groups are acked side by side', async () => {
      await bench.push(item('p', 1))
      const a = await bench.claim({ group: 'a' })
      const b = await bench.claim({ group: 'b' })
      const acks = [ack(bench.ackOf(a, 0), 'a'), ack(bench.ackOf(b, 0), 'b')]
      expect((await run(acks)).success).toBe(true)
    })

    test('a refused one takes nothing of the other writes of its commit with it', async () => {
      await bench.push(item('p', 1))
      const claim = await bench.claim()
      const { nowUs } = bench
      const lost = { ...bench.ackOf(claim, 0), transactionId: 'unknown' }
      const refused = {
        operations: [push(sink('no')), ack(lost)],
        requiredLeases: [],
        producerSub: null,
        nowUs,
      }
      const pushed = (payload: unknown) => {
        return { items: [item('p2', payload)], producerSub: null, nowUs }
      }
      const outcomes = await bench.store.commit([
        { kind: 'push', args: pushed('before') },
        { kind: 'transaction', args: refused },
        { kind: 'push', args: pushed('after') },
      ])
      expect(outcomes.every(({ ok }) => ok)).toBe(true)
      expect(await bench.payloads()).toEqual(['before', 'after'])
      const detail = await bench.read('queueDetail', { queue: 'q' })
      expect(detail?.queue.counts.total).toBe(3)
      await nothingHappened()
    })
  })
}
