import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { push } from '../../../src/queue/shapes/push.ts'
import {
  described,
  JWT_ON,
  lastingToken,
  startTestBroker,
  type TestBroker,
} from '../../support/broker.ts'

let broker: TestBroker
beforeAll(async () => {
  broker = await startTestBroker()
})
afterAll(() => broker.stop())

const ROUTE = 'POST /api/v1/push'
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/
const pushed = async (...items: unknown[]) =>
  described(push, 201, await broker.call(ROUTE, { json: { items } }))

async function popAll(queue: string, batch = 100) {
  const answer = await broker.call(`GET /api/v1/pop/queue/${queue}?batch=${batch}`)
  return answer.status === 204 ? [] : answer.body.messages
}

describe('push', () => {
  it('answers 201 and one entry per item in order, with both spellings of the fields', async () => {
    const traceId = '11111111-1111-4111-8111-111111111111'
    const body = await pushed(
      { queue: 'order', payload: 1, transactionId: 'a', traceId },
      { queue: 'order', partition: 'p', payload: 2 },
    )
    expect(body).toEqual([
      {
        index: 0,
        transaction_id: 'a',
        message_id: expect.stringMatching(UUID),
        status: 'queued',
        queueName: 'order',
        partition_id: expect.any(String),
        trace_id: traceId,
      },
      {
        index: 1,
        transaction_id: expect.any(String),
        message_id: expect.stringMatching(UUID),
        status: 'queued',
        queueName: 'order',
        partition_id: expect.any(String),
        trace_id: null,
      },
    ])
    expect(body[0].partition_id).not.toBe(body[1].partition_id)
  })

  it('answers 201 and [] to an empty list', async () => {
    expect(await pushed()).toEqual([])
  })

  it('reports a repeated transaction id as duplicate with the id of the first message', async () => {
    const [first] = await pushed({ queue: 'dup', payload: 1, transactionId: 'x' })
    const again = await pushed(
      { queue: 'dup', payload: 2, transactionId: 'x' },
      { queue: 'dup', partition: 'other', payload: 3, transactionId: 'x' },
      { queue: 'dup', partition: 'other', payload: 4, transactionId: 'x' },
    )
    expect(again[0]).toMatchObject({ status: 'duplicate', message_id: first.message_id })
    expect(again[1].status).toBe('queued')
    expect(again[2]).toMatchObject({ status: 'duplicate', message_id: again[1].message_id })
  })

  it.each([
    ['null', null],
    ['a number', -1.5],
    ['an empty text', ''],
    ['text', 'zürich ✓ \u0000 " \\ \ud83d\ude00'],
    ['an array', [1, [2, []]]],
    ['an object', { a: { b: [null, true] }, __proto__: null }],
    ['false', false],
  ])('gives back %s as it came', async (name, payload) => {
    const queue = `payload-${name.replaceAll(' ', '-')}`
    await pushed({ queue, payload })
    const [message] = await popAll(queue)
    expect(message.data).toEqual(payload)
  })

  it('keeps a payload member named __proto__', async () => {
    await broker.call(ROUTE, {
      json: '{"items":[{"queue":"proto","payload":{"__proto__":{"x":1}}}]}',
    })
    const answer = await fetch(`${broker.url}/api/v1/pop/queue/proto`)
    expect(await answer.text()).toContain('"data":{"__proto__":{"x":1}}')
  })

  it('takes `data` as another name of payload, and nothing at all as null', async () => {
    await pushed(
      { queue: 'names', data: 5 },
      { queue: 'names' },
      { queue: 'names', payload: null, data: 6 },
    )
    expect((await popAll('names')).map((message: { data: unknown }) => message.data)).toEqual([
      5,
      null,
      null,
    ])
  })

  it('uses the queue name for namespace and task of a queue it creates, unless the item names them', async () => {
    await pushed(
      { queue: 'sales.invoice.print', payload: 1 },
      { queue: 'plain', payload: 1 },
      { queue: 'given.name', payload: 1, namespace: 'ns', task: 'tk' },
    )
    const { body } = await broker.call('GET /api/v1/resources/queues')
    const labels = Object.fromEntries(
      body.queues.map((queue: Record<string, unknown>) => [
        queue['name'],
        [queue['namespace'], queue['task']],
      ]),
    )
    expect(labels).toMatchObject({
      'sales.invoice.print': ['sales', 'invoice'],
      plain: ['plain', ''],
      'given.name': ['ns', 'tk'],
    })
  })

  it('takes a message of 2 MB and one thousand items in one request', async () => {
    const large = 'x'.repeat(2_000_000)
    await pushed({ queue: 'large', payload: { large } })
    expect((await popAll('large'))[0].data).toEqual({ large })
    const items = Array.from({ length: 1000 }, (_, index) => ({ queue: 'many', payload: index }))
    expect(await pushed(...items)).toHaveLength(1000)
    const got = await popAll('many', 1000)
    expect(got.map((message: { data: number }) => message.data)).toEqual(
      items.map((item) => item.payload),
    )
  })

  it('ignores producerSub, buffering hints and unknown members', async () => {
    await pushed({
      queue: 'ignored',
      payload: 1,
      producerSub: 'me',
      bufferMs: 5,
      bufferMax: 'x',
      extra: {},
    })
    expect((await popAll('ignored'))[0].producerSub).toBeNull()
  })

  it.each([
    ['no body', undefined],
    ['an array', []],
    ['no items', {}],
    ['items that are no array', { items: {} }],
    ['an item that is no object', { items: [1] }],
    ['an item that is null', { items: [null] }],
    ['no queue', { items: [{ payload: 1 }] }],
    ['a queue that is no text', { items: [{ queue: 5 }] }],
    ['a partition that is no text', { items: [{ queue: 'bad', partition: 5 }] }],
    ['a transaction id that is no text', { items: [{ queue: 'bad', transactionId: 5 }] }],
    ['a trace id that is no text', { items: [{ queue: 'bad', traceId: {} }] }],
    ['a queue name of 256 characters', { items: [{ queue: 'x'.repeat(256) }] }],
    ['half a surrogate pair', '{"items":[{"queue":"\\ud800"}]}'],
  ])('answers 400 to %s', async (_name, json) => {
    const answer = await broker.call(ROUTE, { json })
    expect(answer.status).toBe(400)
    expect(answer.body).toEqual({ error: expect.any(String) })
  })

  it('stores nothing of a request with one wrong item', async () => {
    const json = {
      items: [
        { queue: 'half', payload: 1 },
        { queue: 'half', partition: 7 },
      ],
    }
    expect(await broker.call(ROUTE, { json })).toMatchObject({
      status: 400,
      body: { error: 'items[1].partition must be text' },
    })
    expect(await popAll('half')).toEqual([])
  })
})

describe('the producer of a message', () => {
  it('is the token’s sub and nothing else', async () => {
    const guarded = await startTestBroker(JWT_ON)
    try {
      const json = { items: [{ queue: 'p', payload: 1, producerSub: 'forged' }] }
      for (const sub of ['producer-1', '']) {
        const token = lastingToken('write-only', sub)
        expect((await guarded.call(ROUTE, { json, token })).status).toBe(201)
      }
      const token = lastingToken('read-write')
      const { body } = await guarded.call('GET /api/v1/pop/queue/p?batch=2', { token })
      expect(body.messages.map((message: { producerSub: unknown }) => message.producerSub)).toEqual(
        ['producer-1', null],
      )
    } finally {
      await guarded.stop()
    }
  })
})
