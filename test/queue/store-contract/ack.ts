import { describe, expect, test } from 'vitest'
import { Bench, item, SECOND_US, type StoreFactory } from './bench.ts'

/** Queue API 6 as every store must keep it; the cursor rules have tests of their own. */
export function ackContract(open: StoreFactory): void {
  describe('ack', () => {
    const bench = new Bench(open)
    const push = (count: number) =>
      bench.push(...Array.from({ length: count }, (_, i) => item('p', i + 1)))

    test('the last message of a batch completes the batch and ends the lease', async () => {
      await push(3)
      const claim = await bench.claim()
      expect(await bench.ack([bench.ackOf(claim, 2)])).toEqual([
        {
          success: true,
          error: null,
          leaseReleased: true,
          dlq: false,
          noop: false,
          queueName: 'q',
          partitionName: 'p',
        },
      ])
      expect(await bench.payloads()).toEqual([])
    })

    test('the same ack again is a harmless success', async () => {
      await push(2)
      const claim = await bench.claim()
      const again = { ...bench.ackOf(claim, 0), leaseId: null }
      await bench.ack([bench.ackOf(claim, 0)])
      expect((await bench.ack([again]))[0]).toMatchObject({ success: true, noop: true })
      const late = { ...again, status: 'failed' as const }
      expect((await bench.ack([late]))[0]).toMatchObject({ success: false, noop: false })
    })

    test('an expired, foreign or unknown lease id fails every item and changes nothing', async () => {
      await push(2)
      const claim = await bench.claim({ leaseSeconds: 5 })
      const foreign = { ...bench.ackOf(claim, 0), leaseId: 'another' }
      expect((await bench.ack([foreign]))[0]?.error).toBe('invalid or expired lease')
      expect((await bench.ack([bench.ackOf(claim, 0)], 'g'))[0]?.success).toBe(false)
      bench.pass(5)
      const results = await bench.ack([bench.ackOf(claim, 0), bench.ackOf(claim, 1)])
      expect(results.map(({ error }) => error)).toEqual([
        'invalid or expired lease',
        'invalid or expired lease',
      ])
      expect(await bench.payloads()).toEqual([1, 2])
    })

    test.each(['nowhere', '01890a5d-ac96-774b-bcce-b302099a8057', '', "' OR 1=1"])(
      'partition id %j is unknown and fails that item alone',
      async (partitionId) => {
        await push(1)
        const claim = await bench.claim()
        const lost = { ...bench.ackOf(claim, 0), partitionId, leaseId: null }
        const [bad, good] = await bench.ack([lost, bench.ackOf(claim, 0)])
        expect(bad).toMatchObject({ success: false, error: 'Message not found' })
        expect(good).toMatchObject({ success: true })
      },
    )

    test('an unknown transaction id is not found and makes no group', async () => {
      await push(1)
      const claim = await bench.claim()
      const lost = { ...bench.ackOf(claim, 0), transactionId: 'unknown', leaseId: null }
      expect((await bench.ack([lost], 'typo'))[0]?.error).toBe('Message not found')
      expect((await bench.read('groups', {})).map(({ group }) => group)).not.toContain('typo')
    })

    test('retryLimit 1: the second failure files one dead letter with the text of the ack', async () => {
      await bench.configure({ retryLimit: 1 })
      await bench.push(item('Default', { n: 1 }, { transactionId: 't1' }), item('Default', 2))
      for (const error of ['first', 'second']) {
        const claim = await bench.claim({ batch: 1 })
        await bench.ack([bench.ackOf(claim, 0, 'failed', error)])
      }
      const rows = await bench.dead()
      expect(rows).toHaveLength(1)
      expect(rows[0]).toMatchObject({
        transactionId: 't1',
        queue: 'q',
        partition: 'Default',
        group: '__QUEUE_MODE__',
        error: 'second',
        retryCount: 1,
        payload: '{"n":1}',
        failedAtUs: bench.nowUs,
        encrypted: false,
      })
      expect(await bench.payloads()).toEqual([2])
    })

    test('a dead letter without a text says that the retries are exhausted', async () => {
      await bench.configure({ retryLimit: 0 })
      await bench.push(item('p', 1))
      const [result] = await bench.ack([bench.ackOf(await bench.claim(), 0, 'failed')])
      expect(result).toMatchObject({ success: true, dlq: true, leaseReleased: true })
      expect((await bench.dead())[0]?.error).toBe('Retries exhausted')
    })

    test('retryLimit 3: two failures and a success deliver the batch three times', async () => {
      await push(10)
      for (const retryCount of [0, 1, 2]) {
        const claim = await bench.claim()
        expect(claim.messages).toHaveLength(10)
        expect(claim.retryCount).toBe(retryCount)
        const status = retryCount < 2 ? 'failed' : 'completed'
        await bench.ack(claim.messages.map((_, i) => bench.ackOf(claim, i, status)))
      }
      expect(await bench.payloads()).toEqual([])
    })

    test('with both dead-letter flags off an exhausted message is dropped', async () => {
      await bench.configure({ retryLimit: 0, deadLetterQueue: false, dlqAfterMaxRetries: false })
      await push(2)
      const [result] = await bench.ack([bench.ackOf(await bench.claim({ batch: 1 }), 0, 'failed')])
      expect(result).toMatchObject({ success: true, dlq: false })
      expect(await bench.dead()).toEqual([])
      expect(await bench.payloads()).toEqual([2])
    })

    test('acks of several partitions in one request are steps of their own', async () => {
      await bench.push(item('a', 1), item('b', 2))
      const { claims, leaseId } = await bench.pop({ partitions: 2 })
      const [a, b] = claims.map((claim) => bench.ackOf({ ...claim, leaseId }, 0))
      const results = await bench.ack([{ ...a!, leaseId: 'wrong' }, b!])
      expect(results.map(({ success }) => success)).toEqual([false, true])
    })
  })

  describe('lease extension and return', () => {
    const bench = new Bench(open)
    const extend = (leaseId: string, seconds: number) => bench.write('extend', { leaseId, seconds })

    test('a renewal moves the expiry of every partition of the lease, never back', async () => {
      await bench.push(item('a', 1), item('b', 2))
      const { leaseId } = await bench.pop({ partitions: 2, leaseSeconds: 100 })
      expect(await extend(leaseId, 10)).toEqual({
        renewed: 2,
        expiresAtUs: bench.nowUs + 100 * SECOND_US,
      })
      bench.pass(95)
      expect(await extend(leaseId, 60)).toEqual({
        renewed: 2,
        expiresAtUs: bench.nowUs + 60 * SECOND_US,
      })
      bench.pass(30)
      expect(await bench.payloads()).toEqual([])
    })

    test('an unknown, expired or released lease is not renewed', async () => {
      await bench.push(item('a', 1))
      const claim = await bench.claim({ leaseSeconds: 5 })
      expect(await extend('unknown', 60)).toEqual({ renewed: 0, expiresAtUs: null })
      await bench.ack([bench.ackOf(claim, 0, 'retry')])
      expect(await extend(claim.leaseId, 60)).toEqual({ renewed: 0, expiresAtUs: null })
      const second = await bench.claim({ leaseSeconds: 5 })
      bench.pass(5)
      expect(await extend(second.leaseId, 60)).toEqual({ renewed: 0, expiresAtUs: null })
    })

    test('claims that are given back can be taken at once, uncounted', async () => {
      await bench.push(item('a', 1))
      const { claims, leaseId } = await bench.pop()
      const group = '__QUEUE_MODE__'
      expect(await bench.write('release', { group, leaseId, claims })).toEqual({ released: 1 })
      expect(bench.wakes).toMatchObject([{ queue: 'q', atMs: null }])
      expect((await bench.claim()).retryCount).toBe(0)
    })

    test('an autoAck pop is stepped back unless somebody has taken more', async () => {
      await bench.push(item('a', 1), item('a', 2))
      const first = await bench.pop({ autoAck: true, batch: 1 })
      await bench.write('release', { group: '__QUEUE_MODE__', ...first })
      expect(await bench.payloads({ autoAck: true })).toEqual([1, 2])
      expect(await bench.write('release', { group: '__QUEUE_MODE__', ...first })).toEqual({
        released: 0,
      })
    })
  })
}
