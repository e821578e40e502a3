import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { OpsReads } from '../../../src/queue/store.ts'
import { item, type OpenTestStore, START_US, type TestStore } from '../../support/queue-store.ts'

const SECOND_US = 1_000_000
const NOBODY = { producerSub: null }

/** Queue API 10.4 and 10.5 as every store must keep them. */
export function traceContract(openTestStore: OpenTestStore): void {
  let store: TestStore
  let partitionId: string

  beforeEach(async () => {
    store = await openTestStore()
    const items = ['a', 'b'].map((name) => item('q', name, { transactionId: name }))
    const [first] = await store.write('push', { items, ...NOBODY })
    partitionId = first?.partitionId ?? ''
  })
  afterEach(() => store.close())

  async function trace(transactionId: string, names: readonly string[], eventType = 'info') {
    store.clock.us += SECOND_US
    const { traceId } = await store.write('addTrace', {
      ...{ partitionId, transactionId, group: 'g', names, eventType, workerId: 'w' },
      data: '{"step":1}',
    })
    return traceId
  }

  function named(name: string, more: Partial<OpsReads['tracesByName']['args']> = {}) {
    const all = { name, fromUs: null, toUs: null, limit: 10, offset: 0 }
    return store.read('tracesByName', { ...all, ...more })
  }

  async function names(limit = 10, offset = 0) {
    const { rows, total } = await store.read('traceNames', { limit, offset })
    return [rows.map(({ name, traces, messages }) => [name, traces, messages]), total]
  }

  describe('traces', () => {
    it('of a message come oldest first, with all that was said of them', async () => {
      const first = await trace('a', ['y', 'x'])
      const second = await trace('a', [], 'done')
      expect(await store.read('messageTraces', { partitionId, transactionId: 'a' })).toEqual([
        {
          id: first,
          eventType: 'info',
          data: '{"step":1}',
          group: 'g',
          workerId: 'w',
          createdAtUs: START_US + SECOND_US,
          names: ['x', 'y'],
        },
        expect.objectContaining({ id: second, eventType: 'done', names: [] }),
      ])
      expect(await store.read('messageTraces', { partitionId, transactionId: 'b' })).toEqual([])
      const nowhere = { partitionId: 'x', transactionId: 'a' }
      expect(await store.read('messageTraces', nowhere)).toEqual([])
    })

    it('are refused for a message that is not stored', async () => {
      expect(await trace('c', ['x'])).toBeNull()
      await store.write('deleteMessage', { partitionId, transactionId: 'a' })
      expect(await trace('a', ['x'])).toBeNull()
      expect(await names()).toEqual([[], 0])
    })

    it('under a name come newest first, in parts and by time, with their message', async () => {
      for (const transactionId of ['a', 'b', 'a']) await trace(transactionId, ['x'])
      await trace('b', ['y'])
      const { rows, total } = await named('x')
      expect(total).toBe(3)
      expect(rows.map(({ transactionId, payload }) => [transactionId, payload])).toEqual([
        ['a', '"a"'],
        ['b', '"b"'],
        ['a', '"a"'],
      ])
      expect(rows[0]).toMatchObject({ partitionId, queue: 'q', partition: 'Default' })
      const secondOf = await named('x', { limit: 1, offset: 1 })
      expect([secondOf.rows.map(({ transactionId }) => transactionId), secondOf.total]).toEqual([
        ['b'],
        3,
      ])
      const at = START_US + 2 * SECOND_US
      expect((await named('x', { fromUs: at, toUs: at })).rows).toHaveLength(1)
      expect((await named('x', { fromUs: at })).total).toBe(2)
      expect(await named('z')).toEqual({ rows: [], total: 0 })
    })

    it('keep their place when the message is gone, and go with the queue', async () => {
      await trace('a', ['x'])
      await store.write('deleteMessage', { partitionId, transactionId: 'a' })
      expect((await named('x')).rows).toMatchObject([{ transactionId: 'a', payload: null }])
      await store.write('deleteQueue', { queue: 'q' })
      expect(await named('x')).toEqual({ rows: [], total: 0 })
    })

    it('count for each name how many they are and how many messages they concern', async () => {
      await trace('a', ['x', 'y'])
      await trace('a', ['x'])
      await trace('b', ['x', 'z'])
      expect(await names()).toEqual([
        [
          ['x', 3, 2],
          ['z', 1, 1],
          ['y', 1, 1],
        ],
        3,
      ])
      expect(await names(1, 1)).toEqual([[['z', 1, 1]], 3])
      const { rows } = await store.read('traceNames', { limit: 1, offset: 0 })
      expect(rows[0]?.lastSeenUs).toBe(START_US + 3 * SECOND_US)
    })
  })

  describe('the payload of a traced message', () => {
    it('is shown in clear though it is kept encrypted', async () => {
      await store.close()
      store = await openTestStore({ encryptionKey: 'ab'.repeat(32) })
      const labels = { namespace: null, task: null }
      const options = { encryptionEnabled: true }
      await store.write('configure', { queue: 'q', ...labels, options, mode: 'merge' })
      const items = [item('q', 'secret', { transactionId: 'a' })]
      const [pushed] = await store.write('push', { items, ...NOBODY })
      partitionId = pushed?.partitionId ?? ''
      await trace('a', ['x'])
      expect((await named('x')).rows).toMatchObject([{ payload: '"secret"' }])
    })
  })
}
