import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  addTrace,
  messageTraces,
  traceNames,
  tracesByName,
} from '../../../src/queue/shapes/traces.ts'
import { described, startTestBroker, type TestBroker } from '../../support/broker.ts'
import { freshQueue, pushNames, take } from '../../support/traffic.ts'

let broker: TestBroker
beforeAll(async () => {
  broker = await startTestBroker()
})
afterAll(() => broker.stop())

async function message() {
  const queue = freshQueue()
  await pushNames(broker.call, queue, ['t1', 't2'])
  const { partitionId } = await take(broker.call, queue, 1)
  return { queue, partitionId, transactionId: 't1' }
}

async function trace(body: object) {
  return described(addTrace, 201, await broker.call('POST /api/v1/traces', { json: body }))
}

describe('POST /api/v1/traces', () => {
  it('stores several events per message, read oldest first with their defaults', async () => {
    const { partitionId, transactionId } = await message()
    const first = await trace({ partitionId, transactionId, data: { step: 1 } })
    await trace({
      partitionId,
      transactionId,
      data: 'done',
      consumerGroup: 'g',
      traceNames: ['b', 'a', 'a'],
      eventType: 'error',
      workerId: 'w',
    })
    const path = `GET /api/v1/traces/${partitionId}/${transactionId}`
    const { traces } = described(messageTraces, 200, await broker.call(path))
    expect(traces).toMatchObject([
      {
        id: first.traceId,
        event_type: 'info',
        data: { step: 1 },
        consumer_group: '__QUEUE_MODE__',
        worker_id: null,
        trace_names: [],
      },
      {
        event_type: 'error',
        data: 'done',
        consumer_group: 'g',
        worker_id: 'w',
        trace_names: ['a', 'b'],
      },
    ])
  })

  it.each([
    ['a single name', { traceNames: 'one' }, ['one']],
    ['no names', { traceNames: null }, []],
    ['data that is null', { data: null }, []],
  ])('takes %s', async (_what, more, names) => {
    const { partitionId, transactionId } = await message()
    await trace({ partitionId, transactionId, data: 1, ...more })
    const path = `GET /api/v1/traces/${partitionId}/${transactionId}`
    const { body } = await broker.call(path)
    expect(body.traces[0].trace_names).toEqual(names)
  })

  it.each([
    ['no transactionId', { transactionId: undefined }],
    ['no partitionId', { partitionId: undefined }],
    ['no data', { data: undefined }],
    ['a number as transactionId', { transactionId: 5 }],
    ['names that are no text', { traceNames: [5] }],
    ['a name that is an object', { traceNames: {} }],
    ['an event type that is no text', { eventType: 5 }],
  ])('is 400 for %s', async (_what, more) => {
    const { partitionId, transactionId } = await message()
    const json = { partitionId, transactionId, data: 1, ...more }
    described(addTrace, 400, await broker.call('POST /api/v1/traces', { json }))
  })

  it('is 400 without a body and for malformed JSON', async () => {
    for (const call of [{}, { json: '{"data":' }, { json: '[]' }]) {
      described(addTrace, 400, await broker.call('POST /api/v1/traces', call))
    }
  })

  it('is 404 for an unknown message, which the client does not repeat', async () => {
    const { partitionId } = await message()
    for (const address of [
      { partitionId, transactionId: 'zzz' },
      { partitionId: 'zzz', transactionId: 't1' },
    ]) {
      const json = { ...address, data: 1 }
      described(addTrace, 404, await broker.call('POST /api/v1/traces', { json }))
    }
  })
})

describe('reading traces', () => {
  it('gives an empty list for an unknown message', async () => {
    const reply = await broker.call('GET /api/v1/traces/no-partition/no-message')
    expect(described(messageTraces, 200, reply)).toEqual({ traces: [] })
  })

  it('finds the events of a name with their messages, newest first, in pages', async () => {
    const { queue, partitionId } = await message()
    for (const [transactionId, step] of [
      ['t1', 1],
      ['t2', 2],
      ['t1', 3],
    ] as const) {
      await trace({ partitionId, transactionId, data: { step }, traceNames: 'by-name' })
    }
    const path = 'GET /api/v1/traces/by-name/by-name'
    const all = described(tracesByName, 200, await broker.call(path))
    expect(all.traces.map((one: { data: { step: number } }) => one.data.step)).toEqual([3, 2, 1])
    expect(all).toMatchObject({ total: 3, pagination: { limit: 100, offset: 0 } })
    expect(all.traces[1]).toMatchObject({
      transaction_id: 't2',
      partition_id: partitionId,
      queue_name: queue,
      partition_name: 'Default',
      message_payload: { name: 't2' },
    })
    const page = described(tracesByName, 200, await broker.call(`${path}?limit=1&offset=2`))
    expect(page.traces).toHaveLength(1)
    expect(page.total).toBe(3)
    const old = await broker.call(`${path}?to=2020-01-01`)
    expect(described(tracesByName, 200, old)).toMatchObject({ traces: [], total: 0 })
  })

  it('lists names with their counts, the most recently seen first', async () => {
    const { partitionId } = await message()
    await trace({ partitionId, transactionId: 't1', data: 1, traceNames: ['list-a', 'list-b'] })
    await trace({ partitionId, transactionId: 't1', data: 1, traceNames: ['list-a'] })
    await trace({ partitionId, transactionId: 't2', data: 1, traceNames: ['list-a'] })
    const reply = await broker.call('GET /api/v1/traces/names?limit=2')
    expect(described(traceNames, 200, reply)).toMatchObject({
      trace_names: [
        { trace_name: 'list-a', trace_count: 3, message_count: 2 },
        { trace_name: 'list-b', trace_count: 1, message_count: 1 },
      ],
      pagination: { limit: 2, offset: 0 },
    })
  })

  it('shows a name that needs percent-encoding', async () => {
    const { partitionId } = await message()
    await trace({ partitionId, transactionId: 't1', data: 1, traceNames: ['a/b ü'] })
    const path = `GET /api/v1/traces/by-name/${encodeURIComponent('a/b ü')}`
    expect(described(tracesByName, 200, await broker.call(path)).total).toBe(1)
  })

  it('shows no events of a queue that was deleted', async () => {
    const { queue, partitionId } = await message()
    await trace({ partitionId, transactionId: 't1', data: 1, traceNames: ['gone'] })
    await broker.call(`DELETE /api/v1/resources/queues/${queue}`)
    const byName = await broker.call('GET /api/v1/traces/by-name/gone')
    expect(described(tracesByName, 200, byName).total).toBe(0)
    const ofMessage = await broker.call(`GET /api/v1/traces/${partitionId}/t1`)
    expect(ofMessage.body).toEqual({ traces: [] })
  })
})
