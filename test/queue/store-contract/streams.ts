import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { CycleArgs } from '../../../src/queue/store.ts'
import { item, type OpenTestStore, popOf, type TestStore } from '../../support/queue-store.ts'

/** Queue API 15 as every store must keep it. */
export function streamContract(openTestStore: OpenTestStore): void {
  const NOBODY = { producerSub: null }
  const GROUP = 'streams.query'
  let store: TestStore
  let queryId: string

  function register(more: { configHash?: string; reset?: boolean } = {}) {
    return store.write('registerQuery', {
      name: 'query',
      sourceQueue: 'source',
      sinkQueue: 'sink',
      configHash: 'h1',
      reset: false,
      ...more,
    })
  }

  beforeEach(async () => {
    store = await openTestStore()
    const outcome = await register()
    queryId = outcome.queryId
  })
  afterEach(() => store.close())

  async function source(names: readonly string[]) {
    const items = names.map((name) => item('source', name, { transactionId: name }))
    await store.write('push', { items, ...NOBODY })
  }

  async function lease(batch = 200) {
    const { claims, leaseId } = await store.write('pop', popOf('source', { group: GROUP, batch }))
    const [first] = claims
    return {
      leaseId,
      partitionId: first?.partitionId ?? '',
      ids: first?.messages.map(({ transactionId }) => transactionId) ?? [],
    }
  }

  function cycle(partitionId: string, more: Partial<CycleArgs>) {
    return store.write('cycle', {
      queryId,
      partitionId,
      group: GROUP,
      stateOps: [],
      pushItems: [],
      ack: null,
      releaseLease: true,
      producerSub: null,
      ...more,
    })
  }

  function acked(transactionId: string, leaseId: string | null, status = 'completed' as const) {
    return { transactionId, leaseId, status, count: 1 }
  }

  async function state(partitionId: string, more: object = {}) {
    const rows = await store.read('streamState', {
      queryId,
      partitionId,
      keys: null,
      keyPrefix: null,
      ripeAtOrBefore: null,
      ...more,
    })
    return rows.map(({ key, value }) => [key, JSON.parse(value)])
  }

  function upsert(key: string, value: unknown) {
    return { type: 'upsert' as const, key, value: JSON.stringify(value) }
  }

  describe('registration', () => {
    it('is fresh once, then keeps its id and its state, whatever reset says', async () => {
      await source(['a'])
      const { partitionId } = await lease()
      await cycle(partitionId, { stateOps: [upsert('k', 1)] })
      for (const reset of [false, true]) {
        expect(await register({ reset })).toEqual({
          result: 'registered',
          queryId,
          fresh: false,
          reset: false,
        })
      }
      expect(await state(partitionId)).toEqual([['k', 1]])
    })

    it('refuses another hash, and takes it with reset, which drops the state', async () => {
      await source(['a'])
      const { partitionId } = await lease()
      await cycle(partitionId, { stateOps: [upsert('k', 1)] })
      const refused = await register({ configHash: 'h2' })
      expect(refused).toEqual({ result: 'hash_mismatch', queryId })
      expect(await state(partitionId)).toEqual([['k', 1]])
      expect(await register({ configHash: 'h2', reset: true })).toMatchObject({
        queryId,
        fresh: false,
        reset: true,
      })
      expect(await state(partitionId)).toEqual([])
      expect(await register({ configHash: 'h2' })).toMatchObject({ reset: false })
    })
  })

  describe('state', () => {
    it('is filtered by keys, literal prefix and ripeness together, ordered by key', async () => {
      await source(['a'])
      const { partitionId } = await lease()
      const separator = '\u001f'
      await cycle(partitionId, {
        stateOps: [
          upsert(`w${separator}2`, { windowEnd: 20 }),
          upsert(`w${separator}1`, { windowEnd: 10 }),
          upsert('w%', { windowEnd: 'text' }),
          upsert('__wm__', 5),
          upsert('nothing', null),
        ],
      })
      expect((await state(partitionId)).map(([key]) => key)).toEqual([
        '__wm__',
        'nothing',
        `w${separator}1`,
        `w${separator}2`,
        'w%',
      ])
      expect(await state(partitionId, { ripeAtOrBefore: 10 })).toEqual([
        [`w${separator}1`, { windowEnd: 10 }],
      ])
      expect(await state(partitionId, { keyPrefix: 'w%' })).toHaveLength(1)
      expect(await state(partitionId, { keys: ['w%', 'x'], keyPrefix: '_' })).toEqual([])
      expect(await state(partitionId, { keys: ['nothing'] })).toEqual([['nothing', null]])
      expect(await state(partitionId, { keys: [] })).toHaveLength(5)
    })

    it('loses a deleted key, and does not mind a missing one', async () => {
      await source(['a'])
      const { partitionId } = await lease()
      await cycle(partitionId, { stateOps: [upsert('k', 1), { type: 'delete', key: 'x' }] })
      await cycle(partitionId, { stateOps: [{ type: 'delete', key: 'k' }] })
      expect(await state(partitionId)).toEqual([])
    })
  })

  describe('a cycle', () => {
    it('commits state, sink pushes and ack together and releases the lease', async () => {
      await source(['a', 'b', 'c'])
      const { partitionId, leaseId } = await lease()
      const outcome = await cycle(partitionId, {
        stateOps: [upsert('k', 1)],
        pushItems: [item('sink', 1, { partition: 'x' }), item('sink', 2, { partition: 'y' })],
        ack: acked('c', leaseId),
      })
      expect(outcome).toMatchObject({ success: true, queueName: 'source', leaseReleased: true })
      const ids = outcome.success ? outcome.pushes.map(({ messageId }) => messageId) : []
      expect(ids).toEqual(ids.toSorted())
      expect(await state(partitionId)).toEqual([['k', 1]])
      await source(['d'])
      expect((await lease()).ids).toEqual(['d'])
    })

    it('raises the message ids in the given order over all sink partitions', async () => {
      await source(['a'])
      const { partitionId } = await lease()
      const pushItems = Array.from({ length: 50 }, (_, at) =>
        item('sink', at, { partition: `p${at % 9}` }),
      )
      const outcome = await cycle(partitionId, { pushItems })
      const ids = outcome.success ? outcome.pushes.map(({ messageId }) => messageId) : []
      expect(ids).toHaveLength(50)
      expect(ids).toEqual(ids.toSorted())
    })

    it.each([
      ['an unknown message', 'nowhere', undefined, 'Message not found'],
      ['a foreign lease', 'a', 'other', 'invalid or expired lease'],
    ])('rolls everything back for %s', async (_name, transactionId, foreign, error) => {
      await source(['a'])
      const { partitionId, leaseId } = await lease()
      const outcome = await cycle(partitionId, {
        stateOps: [upsert('k', 1)],
        pushItems: [item('sink', 1)],
        ack: acked(transactionId, foreign ?? leaseId),
      })
      expect(outcome).toEqual({ success: false, queueName: 'source', error })
      expect(await state(partitionId)).toEqual([])
      expect((await store.read('queueDetail', { queue: 'sink' }))?.queue.counts.total ?? 0).toBe(0)
      const after = await cycle(partitionId, { ack: acked('a', leaseId) })
      expect(after).toMatchObject({ success: true })
    })

    it('fails for an expired lease, an unknown query and an unknown partition', async () => {
      await source(['a'])
      const { partitionId, leaseId } = await lease()
      expect(await cycle(partitionId, { queryId: 'x' })).toMatchObject({ success: false })
      expect(await cycle('x', {})).toMatchObject({ success: false, queueName: 'source' })
      store.clock.us += 301 * 1_000_000
      expect(await cycle(partitionId, { ack: acked('a', leaseId) })).toMatchObject({
        success: false,
        error: 'invalid or expired lease',
      })
    })

    it('keeps the lease on demand: the tail comes again only when it runs out, in order', async () => {
      await source(['a', 'b', 'c'])
      const { partitionId, leaseId } = await lease()
      const ack = acked('b', leaseId)
      expect(await cycle(partitionId, { ack, releaseLease: false })).toMatchObject({
        success: true,
        leaseReleased: false,
      })
      await source(['d'])
      expect((await lease()).ids).toEqual([])
      store.clock.us += 301 * 1_000_000
      expect((await lease()).ids).toEqual(['c', 'd'])
    })

    it('keeps the lease also when the last message of the batch was acked', async () => {
      await source(['a'])
      const { partitionId, leaseId } = await lease()
      await cycle(partitionId, { ack: acked('a', leaseId), releaseLease: false })
      await source(['b'])
      expect((await lease()).ids).toEqual([])
      store.clock.us += 301 * 1_000_000
      expect((await lease()).ids).toEqual(['b'])
    })

    it('releases the lease when only a part of the batch was acked', async () => {
      await source(['a', 'b'])
      const { partitionId, leaseId } = await lease()
      await cycle(partitionId, { ack: acked('a', leaseId) })
      expect((await lease()).ids).toEqual(['b'])
    })

    it('a failed ack moves nothing, counts no retry and releases the lease', async () => {
      await source(['a', 'b'])
      const { partitionId, leaseId } = await lease()
      const ack = { ...acked('b', leaseId), status: 'failed' as const }
      expect(await cycle(partitionId, { ack })).toMatchObject({
        success: true,
        leaseReleased: true,
      })
      const { claims } = await store.write('pop', popOf('source', { group: GROUP }))
      expect(claims[0]).toMatchObject({ retryCount: 0 })
      expect(claims[0]?.messages.map(({ transactionId }) => transactionId)).toEqual(['a', 'b'])
    })

    it('an idle flush needs no lease and touches none', async () => {
      await source(['a'])
      const { partitionId, leaseId } = await lease()
      const flush = await cycle(partitionId, { pushItems: [item('sink', 1)] })
      expect(flush).toMatchObject({ success: true, leaseReleased: false })
      expect(await cycle(partitionId, { ack: acked('a', leaseId) })).toMatchObject({
        success: true,
      })
    })

    it('reports a duplicate in the sink without failing', async () => {
      await source(['a'])
      const { partitionId } = await lease()
      const pushItems = [item('sink', 1, { transactionId: 't' })]
      await cycle(partitionId, { pushItems })
      const again = await cycle(partitionId, { pushItems })
      expect(again).toMatchObject({ success: true, pushes: [{ status: 'duplicate' }] })
    })

    it('releasing one partition does not release the others of the same lease', async () => {
      const items = ['a', 'b'].map((name) =>
        item('source', name, { partition: name, transactionId: name }),
      )
      await store.write('push', { items, ...NOBODY })
      const { claims, leaseId } = await store.write(
        'pop',
        popOf('source', { group: GROUP, partitions: 4 }),
      )
      expect(claims).toHaveLength(2)
      const [first, second] = claims
      await cycle(first?.partitionId ?? '', {
        ack: acked(first?.messages[0]?.transactionId ?? '', leaseId),
      })
      expect((await lease()).ids).toEqual([])
      const ack = acked(second?.messages[0]?.transactionId ?? '', leaseId)
      expect(await cycle(second?.partitionId ?? '', { ack })).toMatchObject({ success: true })
    })

    it('sink pushes wake the waiting pops of the sink', async () => {
      await source(['a'])
      const { partitionId } = await lease()
      await store.write('pop', popOf('sink'))
      const args = { queryId, partitionId, group: GROUP, stateOps: [], ack: null, ...NOBODY }
      const pushItems = [item('sink', 1)]
      const [outcome] = await store.store.commit([
        {
          kind: 'cycle',
          args: { ...args, pushItems, releaseLease: true, nowUs: store.clock.us },
        },
      ])
      expect(outcome).toMatchObject({ ok: true, wakes: [{ queue: 'sink', atMs: null }] })
    })
  })
}
