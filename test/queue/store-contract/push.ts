import { describe, expect, test } from 'vitest'
import { Bench, item, KEY, type StoreFactory } from './bench.ts'

/** Queue API 3.1, 3.5, 5.2 and 5.5 as every store must keep them. */
export function pushContract(open: StoreFactory): void {
  describe('push', () => {
    const bench = new Bench(open)

    test('messages come back in order, byte for byte, with what was pushed', async () => {
      const payload =
        '{"n":1.0,"big":12345678901234567890,"text":"\\u0000ü\\ud83d\\ude00","a":[null]}'
      const traceId = '6b1f1c1e-7f5a-4d31-9a50-5f3b6f3ad3a1'
      await bench.write('push', {
        items: [item('p', null, { payload, traceId, transactionId: 't1' }), item('p', 2)],
        producerSub: 'producer-1',
      })
      const { messages } = await bench.claim()
      expect(messages[0]).toMatchObject({
        payload,
        traceId,
        transactionId: 't1',
        producerSub: 'producer-1',
      })
      expect(messages[1]).toMatchObject({ payload: '2', traceId: null, producerSub: 'producer-1' })
      expect(messages[1]?.transactionId).toBe(messages[1]?.id)
    })

    test('a payload of 2 MB is kept', async () => {
      const text = 'x'.repeat(2_000_000)
      await bench.push(item('p', text))
      expect(await bench.payloads()).toEqual([text])
    })

    test('a queue made by a push takes its labels from its name or from the item', async () => {
      await bench.push(
        item('p', 1, { queue: 'orders.mail.late' }),
        item('p', 1, { queue: 'plain' }),
        item('p', 1, { queue: 'own.name', namespace: 'ns', task: 'job' }),
      )
      const filter = { namespace: null, task: null, search: null, limit: null, offset: 0 }
      const { rows } = await bench.read('queues', filter)
      const labels = rows.map(({ name, namespace, task }) => [name, namespace, task])
      expect(labels.toSorted()).toEqual([
        ['orders.mail.late', 'orders', 'mail'],
        ['own.name', 'ns', 'job'],
        ['plain', 'plain', ''],
      ])
    })

    test('any name that the grammar allows is kept apart from every other', async () => {
      const names = [
        '',
        'a/b',
        'a%2Fb',
        'a:b',
        'a+b',
        'ü',
        'u\u0308',
        ' ',
        'A',
        'a',
        "'; --",
        '%',
        '_',
      ]
      for (const name of names) await bench.push(item(name || 'Default', name, { queue: name }))
      for (const name of names) {
        const scope = { queue: name, partition: name || 'Default' }
        expect(await bench.payloads({ scope })).toEqual([name])
      }
    })

    test('a wake is sent when something has become ready, and only then', async () => {
      await bench.push(item('p', 1))
      expect(bench.wakes).toMatchObject([{ queue: 'q', atMs: null }])
      const claim = await bench.claim()
      await bench.push(item('p', 2))
      expect(bench.wakes).toEqual([])
      await bench.ack([bench.ackOf(claim, 0)])
      expect(bench.wakes).toMatchObject([{ queue: 'q', atMs: null }])
    })
  })

  describe('message ids and times', () => {
    const bench = new Bench(open)

    async function stored() {
      const { messages } = await bench.claim({ batch: 100, autoAck: true })
      return messages
    }

    test('ids rise as text in commit order and times never fall, over a clock that goes back', async () => {
      for (const step of [0, 0, 5, -3600, 0, 10]) {
        bench.pass(step)
        await bench.push(item('p', 1), item('p', 2))
      }
      const messages = await stored()
      const ids = messages.map(({ id }) => id)
      expect(ids).toEqual(ids.toSorted())
      expect(new Set(ids).size).toBe(12)
      for (const id of ids)
        expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-/)
      const times = messages.map(({ createdAtUs }) => createdAtUs)
      expect(times).toEqual(times.toSorted((a, b) => a - b))
    })

    test('they also rise over a restart with the clock set back, when nothing is stored any more', async () => {
      await bench.configure({ retentionEnabled: true, retentionSeconds: 10 })
      const [first] = await bench.push(item('Default', 1))
      bench.pass(60)
      expect(await bench.job('retention')).toBe(1)
      await bench.reopen()
      bench.pass(-3600)
      const [second] = await bench.push(item('Default', 2))
      expect((second?.messageId ?? '') > (first?.messageId ?? '')).toBe(true)
      expect(await bench.payloads()).toEqual([2])
    })
  })

  describe('transaction ids', () => {
    const bench = new Bench(open)
    const pushed = (tx: string, more = {}) => item('p', tx, { transactionId: tx, ...more })

    test('a second push of an id stores nothing and names the first message', async () => {
      const [first] = await bench.push(pushed('t'))
      const [second] = await bench.push(pushed('t'))
      expect(second).toEqual({ ...first, status: 'duplicate' })
      expect(await bench.payloads()).toEqual(['t'])
    })

    test('the same id in another partition or queue is another message', async () => {
      const results = await bench.push(
        pushed('t'),
        pushed('t', { partition: 'p2' }),
        pushed('t', { queue: 'q2' }),
      )
      expect(results.map(({ status }) => status)).toEqual(['queued', 'queued', 'queued'])
    })

    test('inside one request and inside one commit the first wins', async () => {
      const args = { items: [pushed('t'), pushed('t')], producerSub: null, nowUs: bench.nowUs }
      const outcomes = await bench.store.commit(
        Array.from({ length: 4 }, () => ({ kind: 'push' as const, args })),
      )
      const results = outcomes.flatMap((outcome) => (outcome.ok ? outcome.value : [])) as {
        status: string
        messageId: string
      }[]
      expect(results.filter(({ status }) => status === 'queued')).toHaveLength(1)
      expect(results).toHaveLength(8)
      expect(new Set(results.map(({ messageId }) => messageId)).size).toBe(1)
    })

    test('a consumed message still counts, until the window of its queue has passed', async () => {
      await bench.configure({ dedupWindowSeconds: 10 })
      await bench.push(pushed('t'))
      await bench.pop({ autoAck: true })
      bench.pass(9)
      expect((await bench.push(pushed('t')))[0]?.status).toBe('duplicate')
      bench.pass(2)
      expect((await bench.push(pushed('t')))[0]?.status).toBe('queued')
      expect((await bench.push(pushed('t')))[0]?.status).toBe('duplicate')
    })

    test('a window of 0 checks nothing', async () => {
      await bench.configure({ dedupWindowSeconds: 0 })
      const results = await bench.push(pushed('t'), pushed('t'))
      expect(results.map(({ status }) => status)).toEqual(['queued', 'queued'])
    })

    test('an id whose message retention took away counts until its window ends', async () => {
      await bench.configure({
        retentionEnabled: true,
        retentionSeconds: 5,
        dedupWindowSeconds: 100,
      })
      const [first] = await bench.push(pushed('t'))
      bench.pass(50)
      expect(await bench.job('retention')).toBe(1)
      await bench.reopen()
      expect((await bench.push(pushed('t')))[0]).toMatchObject({
        status: 'duplicate',
        messageId: first?.messageId,
      })
      bench.pass(51)
      expect((await bench.push(pushed('t')))[0]?.status).toBe('queued')
    })
  })

  describe('encryption at rest', () => {
    const bench = new Bench(open, KEY)

    test('what an encrypted queue keeps can be read with its key alone', async () => {
      await bench.configure({ encryptionEnabled: true })
      await bench.push(item('Default', { secret: 'word' }))
      expect(await bench.payloads({ autoAck: true, group: 'g' })).toEqual([{ secret: 'word' }])
      await bench.reopen('a5'.repeat(32))
      const [envelope] = await bench.payloads()
      expect(Object.keys(envelope as object)).toEqual(['encrypted', 'iv', 'authTag'])
      expect(JSON.stringify(envelope)).not.toContain('word')
    })

    test('it follows the option of the moment of the push, reading the stored form', async () => {
      await bench.push(item('p', 'clear'))
      await bench.configure({ encryptionEnabled: true })
      await bench.push(item('p', 'sealed'))
      await bench.configure({ encryptionEnabled: false })
      expect(await bench.payloads()).toEqual(['clear', 'sealed'])
    })

    test('a clear payload that looks like an envelope is left alone', async () => {
      const lookalike = { encrypted: 'AAAA', iv: 'AAAA', authTag: 'AAAA' }
      await bench.push(item('p', lookalike))
      expect(await bench.payloads()).toEqual([lookalike])
    })

    test('transactions and dead letters are covered too', async () => {
      await bench.configure({ encryptionEnabled: true, retryLimit: 0 })
      await bench.write('transaction', {
        operations: [{ type: 'push', item: item('Default', { secret: 'word' }) }],
        requiredLeases: [],
        producerSub: null,
      })
      await bench.ack([bench.ackOf(await bench.claim(), 0, 'failed')])
      const [row] = await bench.dead()
      expect(row).toMatchObject({ payload: '{"secret":"word"}', encrypted: true })
      await bench.reopen('')
      expect((await bench.dead())[0]?.payload).not.toContain('word')
    })
  })
}
