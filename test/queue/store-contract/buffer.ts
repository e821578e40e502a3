import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { ALL_MESSAGES } from '../../support/queue-args.ts'
import { item, type OpenTestStore, popOf, type TestStore } from '../../support/queue-store.ts'

/** Queue API 13.1 as every store must keep it. */
export function bufferContract(openTestStore: OpenTestStore): void {
  const NOBODY = { producerSub: null }
  let store: TestStore

  beforeEach(async () => {
    store = await openTestStore()
  })
  afterEach(() => store.close())

  function maintenance(value: boolean) {
    return store.write('setFlag', { name: 'pushMaintenance', value })
  }

  function push(queue: string, payloads: readonly unknown[], partition = 'Default') {
    const items = payloads.map((payload) => item(queue, payload, { partition }))
    return store.write('push', { items, ...NOBODY })
  }

  async function payloads(queue: string): Promise<unknown[]> {
    const { claims } = await store.write('pop', popOf(queue, { autoAck: true, partitions: 0 }))
    return claims.flatMap(({ messages }) => messages.map(({ payload }) => JSON.parse(payload)))
  }

  describe('push maintenance', () => {
    it('diverts pushes, which cannot be popped until they are replayed', async () => {
      await push('q', [1])
      await maintenance(true)
      const results = await push('q', [2, 3])
      expect(results.map(({ status }) => status)).toEqual(['buffered', 'buffered'])
      expect(await store.read('buffer', null)).toMatchObject({ pending: 2, failed: 0 })
      expect(await payloads('q')).toEqual([1])
      await maintenance(false)
      expect(await store.write('drainBuffer', { limit: 10 })).toEqual({ moved: 2, left: 0 })
      expect(await payloads('q')).toEqual([2, 3])
      expect(await store.read('buffer', null)).toEqual({ pending: 0, failed: 0, oldestUs: null })
    })

    it('replays nothing while it is on', async () => {
      await maintenance(true)
      await push('q', [1])
      expect(await store.write('drainBuffer', { limit: 10 })).toEqual({ moved: 0, left: 0 })
      expect(await store.read('buffer', null)).toMatchObject({ pending: 1 })
    })

    it('keeps the ids of a message over the replay', async () => {
      await maintenance(true)
      const [buffered] = await push('q', ['x'])
      await maintenance(false)
      await store.write('drainBuffer', { limit: 10 })
      const { claims } = await store.write('pop', popOf('q'))
      const [message] = claims[0]?.messages ?? []
      expect(message).toMatchObject({
        id: buffered?.messageId,
        transactionId: buffered?.transactionId,
      })
    })

    it('checks for duplicates when it replays', async () => {
      const items = [item('q', 'first', { transactionId: 't' })]
      await store.write('push', { items, ...NOBODY })
      await maintenance(true)
      const again = [item('q', 'again', { transactionId: 't' })]
      await store.write('push', { items: [...again, ...again], ...NOBODY })
      await maintenance(false)
      await store.write('drainBuffer', { limit: 10 })
      expect(await payloads('q')).toEqual(['first'])
    })

    it('lets no push overtake what waits of its partition while the buffer drains', async () => {
      await maintenance(true)
      await push('q', [1, 2, 3], 'a')
      await maintenance(false)
      const results = await store.write('push', {
        items: [
          item('q', 4, { partition: 'a' }),
          item('q', 'free', { partition: 'b' }),
          item('q', 5, { partition: 'a' }),
        ],
        ...NOBODY,
      })
      expect(results.map(({ status }) => status)).toEqual(['buffered', 'queued', 'buffered'])
      expect(await store.write('drainBuffer', { limit: 2 })).toEqual({ moved: 2, left: 1 })
      await store.write('drainBuffer', { limit: 10 })
      expect((await push('q', [6], 'a'))[0]?.status).toBe('queued')
      const scope = { queue: 'q', partition: 'a' }
      const { claims } = await store.write('pop', popOf('q', { scope }))
      expect(claims[0]?.messages.map(({ payload }) => Number(payload))).toEqual([1, 2, 3, 4, 5, 6])
    })

    it('lets transactions through, and message ids still end up unique and later ones higher', async () => {
      await maintenance(true)
      await push('q', ['buffered'])
      const operations = [{ type: 'push' as const, item: item('q', 'direct') }]
      await store.write('transaction', { operations, requiredLeases: [], ...NOBODY })
      await maintenance(false)
      await store.write('drainBuffer', { limit: 10 })
      await push('q', ['later'])
      const { claims } = await store.write('pop', popOf('q'))
      const messages = claims[0]?.messages ?? []
      expect(messages.map(({ payload }) => JSON.parse(payload))).toEqual([
        'direct',
        'buffered',
        'later',
      ])
      const ids = messages.map(({ id }) => id)
      expect(ids[2]).toBe(ids.toSorted().at(-1))
      expect(new Set(ids).size).toBe(3)
    })

    it('sets a push aside on demand and goes on with the next', async () => {
      await maintenance(true)
      await push('q', [1, 2])
      await maintenance(false)
      expect(await store.write('skipBuffered', {})).toEqual({ skipped: true })
      await store.write('drainBuffer', { limit: 10 })
      expect(await payloads('q')).toEqual([2])
      expect(await store.read('buffer', null)).toMatchObject({ pending: 0, failed: 1 })
    })

    it('forgets what waits for a queue that is deleted or cleared', async () => {
      await maintenance(true)
      await push('gone', [1])
      await push('kept', [2])
      await store.write('deleteQueue', { queue: 'gone' })
      await maintenance(false)
      await store.write('drainBuffer', { limit: 10 })
      expect(await payloads('gone')).toEqual([])
      expect(await payloads('kept')).toEqual([2])
    })

    it('encrypts what waits for a queue that wants it', async () => {
      const sealed = await openTestStore({ encryptionKey: 'ab'.repeat(32) })
      await sealed.write('configure', {
        queue: 'q',
        namespace: null,
        task: null,
        options: { encryptionEnabled: true },
        mode: 'merge',
      })
      await sealed.write('setFlag', { name: 'pushMaintenance', value: true })
      await sealed.write('push', { items: [item('q', 'secret')], ...NOBODY })
      await sealed.write('setFlag', { name: 'pushMaintenance', value: false })
      await sealed.write('drainBuffer', { limit: 10 })
      const { rows } = await sealed.read('messages', { ...ALL_MESSAGES, queue: 'q', limit: 1 })
      expect(rows[0]).toMatchObject({ encrypted: true, payload: '"secret"' })
      await sealed.close()
    })

    it('keeps the order of every partition, whatever is switched and drained in between', async () => {
      const step = fc.oneof(
        fc.record({ do: fc.constant('push' as const), partition: fc.constantFrom('a', 'b') }),
        fc.record({ do: fc.constant('switch' as const), on: fc.boolean() }),
        fc.record({ do: fc.constant('drain' as const), limit: fc.integer({ min: 1, max: 3 }) }),
      )
      await fc.assert(
        fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
          const queue = `q${Math.random()}`
          const pushed: Record<string, number[]> = { a: [], b: [] }
          for (const [at, one] of steps.entries()) {
            if (one.do === 'switch') await maintenance(one.on)
            else if (one.do === 'drain') await store.write('drainBuffer', { limit: one.limit })
            else {
              pushed[one.partition]?.push(at)
              await push(queue, [at], one.partition)
            }
          }
          await maintenance(false)
          await store.write('drainBuffer', { limit: 1000 })
          for (const partition of ['a', 'b']) {
            const scope = { queue, partition }
            const { claims } = await store.write('pop', popOf(queue, { scope }))
            const got = claims.flatMap(({ messages }) => messages)
            expect(got.map(({ payload }) => Number(payload))).toEqual(pushed[partition])
            expect(got.map(({ id }) => id)).toEqual(got.map(({ id }) => id).toSorted())
          }
        }),
        { numRuns: 60 },
      )
    })
  })
}
