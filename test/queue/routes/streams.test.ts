import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { getState, registerQuery, runCycle } from '../../../src/queue/shapes/streams.ts'
import {
  described,
  JWT_ON,
  lastingToken,
  startTestBroker,
  type TestBroker,
} from '../../support/broker.ts'
import { freshQueue, pushNames, take } from '../../support/traffic.ts'

let broker: TestBroker
beforeAll(async () => {
  broker = await startTestBroker()
})
afterAll(() => broker.stop())

async function registered(more: object = {}) {
  const source = freshQueue()
  const json = { name: `q-${source}`, source_queue: source, config_hash: 'h', ...more }
  const reply = await broker.call('POST /streams/v1/queries', { json })
  const { query_id } = described(registerQuery, 200, reply)
  const group = `streams.${json.name}`
  await pushNames(broker.call, source, ['a', 'b', 'c'])
  const taken = await take(broker.call, source, 200, group)
  const base = { query_id, partition_id: taken.partitionId, consumer_group: group }
  return { json, source, query_id, group, taken, base }
}

async function cycle(body: object) {
  return described(runCycle, 200, await broker.call('POST /streams/v1/cycle', { json: body }))
}

describe('POST /streams/v1/queries', () => {
  it('answers fresh, known, mismatch and reset as the page says', async () => {
    const { json, query_id } = await registered()
    const again = (more: object) =>
      broker.call('POST /streams/v1/queries', { json: { ...json, ...more } })
    const same = described(registerQuery, 200, await again({ reset: true, sink_queue: 'sink' }))
    expect(same).toEqual({
      success: true,
      query_id,
      name: json.name,
      fresh: false,
      reset: false,
    })
    const refused = described(registerQuery, 409, await again({ config_hash: 'other' }))
    expect(refused).toMatchObject({ success: false, query_id, name: json.name })
    expect(refused.error).toContain('config_hash mismatch')
    const reset = await again({ config_hash: 'other', reset: true })
    expect(described(registerQuery, 200, reset)).toMatchObject({ fresh: false, reset: true })
  })

  it.each(['name', 'source_queue', 'config_hash'])(
    'is 400 when %s is missing, empty or not text',
    async (member) => {
      const good = { name: 'n', source_queue: 's', config_hash: 'h' }
      for (const value of [undefined, '', 5, null]) {
        const json = { ...good, [member]: value }
        described(registerQuery, 400, await broker.call('POST /streams/v1/queries', { json }))
      }
    },
  )
})

describe('POST /streams/v1/state/get', () => {
  it('answers rows in the order of their keys', async () => {
    const { base, query_id } = await registered()
    await cycle({
      ...base,
      state_ops: [
        { type: 'upsert', key: 'b', value: [1, null] },
        { type: 'upsert', key: 'a\u001f1', value: { windowEnd: 5 } },
      ],
    })
    const json = { query_id, partition_id: base.partition_id }
    const all = await broker.call('POST /streams/v1/state/get', { json })
    expect(described(getState, 200, all).rows).toMatchObject([
      { key: 'a\u001f1', value: { windowEnd: 5 } },
      { key: 'b', value: [1, null] },
    ])
    const filtered = await broker.call('POST /streams/v1/state/get', {
      json: { ...json, keys: ['a\u001f1', 'b'], key_prefix: 'a', ripe_at_or_before: 5 },
    })
    expect(described(getState, 200, filtered).rows).toHaveLength(1)
  })

  it('is empty for an unknown query', async () => {
    const json = { query_id: 'x', partition_id: 'y' }
    const reply = await broker.call('POST /streams/v1/state/get', { json })
    expect(described(getState, 200, reply)).toEqual({ success: true, rows: [] })
  })

  it.each([
    {},
    { query_id: 'x' },
    { partition_id: 'x' },
    { query_id: 'x', partition_id: 'y', keys: 'a' },
    { query_id: 'x', partition_id: 'y', ripe_at_or_before: 'soon' },
  ])('is 400 for %j', async (json) => {
    described(getState, 400, await broker.call('POST /streams/v1/state/get', { json }))
  })
})

describe('POST /streams/v1/cycle', () => {
  it('commits state, sink pushes and ack, and answers in snake case', async () => {
    const { base, taken, source } = await registered()
    const sink = freshQueue()
    const reply = await cycle({
      ...base,
      state_ops: [{ type: 'upsert', key: 'k', value: 1 }],
      push_items: [
        { queue: sink, partition: 'p', payload: { sum: 1 } },
        { queue: sink, payload: { sum: 2 } },
      ],
      ack: { transactionId: 'c', leaseId: taken.leaseId, status: 'completed', count: 3 },
    })
    expect(reply).toMatchObject({
      success: true,
      query_id: base.query_id,
      partition_id: base.partition_id,
      queueName: source,
      state_ops_applied: 1,
      push_results: [
        { index: 0, status: 'queued', queueName: sink, trace_id: null },
        { index: 1, status: 'queued', queueName: sink },
      ],
      ack_result: { success: true, count: 3, lease_released: true, dlq: false },
    })
    expect((await take(broker.call, source, 10, base.consumer_group)).ids).toEqual([])
  })

  it('answers a flush without ack, and a kept lease', async () => {
    const { base, taken } = await registered()
    expect(await cycle(base)).toMatchObject({ success: true, ack_result: null })
    const ack = { transactionId: 'a', leaseId: taken.leaseId, status: 'completed', count: 1 }
    expect(await cycle({ ...base, ack, release_lease: false })).toMatchObject({
      ack_result: { lease_released: false },
    })
  })

  it.each([
    ['an unknown state operation', { state_ops: [{ type: 'increment', key: 'k', value: 1 }] }],
    ['an unknown message', { ack: { transactionId: 'zzz', status: 'completed', count: 1 } }],
    ['a bad lease', { ack: { transactionId: 'a', leaseId: 'zzz', status: 'completed' } }],
    ['an unknown query', { query_id: 'zzz' }],
    ['an unknown partition', { partition_id: 'zzz' }],
  ])('answers 200 with success false for %s, and nothing of it remains', async (_what, more) => {
    const { base } = await registered()
    const sink = freshQueue()
    const reply = await cycle({ ...base, push_items: [{ queue: sink, payload: 1 }], ...more })
    expect(reply).toMatchObject({
      success: false,
      state_ops_applied: 0,
      push_results: [],
      ack_result: null,
      error: expect.any(String),
    })
    expect((await broker.call(`GET /api/v1/resources/queues/${sink}`)).status).toBe(404)
  })

  it.each([
    {},
    { query_id: 'x' },
    { query_id: 'x', partition_id: 5 },
    { query_id: 'x', partition_id: 'y', state_ops: {} },
    { query_id: 'x', partition_id: 'y', state_ops: [{ type: 'upsert' }] },
    { query_id: 'x', partition_id: 'y', push_items: [{ payload: 1 }] },
    { query_id: 'x', partition_id: 'y', ack: {} },
    { query_id: 'x', partition_id: 'y', release_lease: 'no' },
  ])('is 400 for %j', async (json) => {
    described(runCycle, 400, await broker.call('POST /streams/v1/cycle', { json }))
  })

  it("stamps sink pushes with the token's sub", async () => {
    const guarded = await startTestBroker(JWT_ON)
    const token = lastingToken('read-write', 'runner-1')
    const call: TestBroker['call'] = (route, more = {}) => guarded.call(route, { token, ...more })
    const query = { name: 'n', source_queue: 's', config_hash: 'h' }
    const { body } = await call('POST /streams/v1/queries', { json: query })
    await pushNames(call, 's', ['a'])
    const { partitionId } = await take(call, 's')
    const json = {
      query_id: body.query_id,
      partition_id: partitionId,
      push_items: [{ queue: 'sink', payload: 1, producerSub: 'forged' }],
    }
    described(runCycle, 200, await call('POST /streams/v1/cycle', { json }))
    const popped = await call('GET /api/v1/pop/queue/sink')
    expect(popped.body.messages[0].producerSub).toBe('runner-1')
    await guarded.stop()
  })
})
