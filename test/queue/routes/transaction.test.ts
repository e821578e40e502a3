import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { transaction } from '../../../src/queue/shapes/transaction.ts'
import { described, startTestBroker, type TestBroker } from '../../support/broker.ts'

let broker: TestBroker
beforeAll(async () => {
  broker = await startTestBroker()
})
afterAll(() => broker.stop())

const ROUTE = 'POST /api/v1/transaction'
const commit = async (operations: unknown, requiredLeases?: unknown) =>
  described(transaction, 200, await broker.call(ROUTE, { json: { operations, requiredLeases } }))

async function leased(queue: string, count: number, query = '') {
  const items = Array.from({ length: count }, (_, at) => ({ queue, payload: at + 1 }))
  await broker.call('POST /api/v1/push', { json: { items } })
  const reply = await broker.call(`GET /api/v1/pop/queue/${queue}?batch=${count}${query}`)
  return reply.body.messages as readonly {
    transactionId: string
    partitionId: string
    leaseId: string
  }[]
}

const pop = async (queue: string, query = '') => {
  const reply = await broker.call(`GET /api/v1/pop/queue/${queue}?batch=100${query}`)
  return reply.status === 204
    ? []
    : reply.body.messages.map((message: { data: unknown }) => message.data)
}

const ackOf = (message: { transactionId: string; partitionId: string } | undefined, more = {}) => ({
  type: 'ack',
  transactionId: message?.transactionId,
  partitionId: message?.partitionId,
  ...more,
})

describe('a transaction', () => {
  it('numbers its results straight through, pushes and acks alike', async () => {
    const messages = await leased('src', 2)
    const body = await commit([
      {
        type: 'push',
        items: [
          { queue: 'dst', payload: 1, transactionId: 'a' },
          { queue: 'dst', data: 2 },
        ],
      },
      ackOf(messages[0]),
      ackOf(messages[1]),
      { type: 'push', queue: 'flat', payload: 3, transactionId: 'f' },
    ])
    expect(body).toEqual({
      transactionId: expect.any(String),
      success: true,
      results: [
        {
          index: 0,
          type: 'push',
          success: true,
          transactionId: 'a',
          messageId: expect.any(String),
          partitionId: expect.any(String),
          queueName: 'dst',
        },
        expect.objectContaining({ index: 1, type: 'push', queueName: 'dst' }),
        {
          index: 2,
          type: 'ack',
          success: true,
          transactionId: messages[0]?.transactionId,
          error: null,
          dlq: false,
        },
        expect.objectContaining({ index: 3, type: 'ack' }),
        expect.objectContaining({ index: 4, type: 'push', queueName: 'flat', transactionId: 'f' }),
      ],
    })
    expect(await pop('dst')).toEqual([1, 2])
    expect(await pop('flat')).toEqual([3])
    expect(await pop('src')).toEqual([])
  })

  it('stores a push without payload as an empty object', async () => {
    await commit([{ type: 'push', items: [{ queue: 'none' }] }])
    expect(await pop('none')).toEqual([{}])
  })

  it('wakes waiting pops', async () => {
    const waiting = pop('woken', '&wait=true&timeout=20000')
    await commit([{ type: 'push', items: [{ queue: 'woken', payload: 'up' }] }])
    expect(await waiting).toEqual(['up'])
  })

  it('takes the first of equal transaction ids inside it and marks the later ones', async () => {
    const item = { queue: 'twice', payload: 1, transactionId: 'same' }
    const { results } = await commit([{ type: 'push', items: [item, item] }])
    expect(results[0].duplicate).toBeUndefined()
    expect(results[1]).toMatchObject({ duplicate: true, messageId: results[0].messageId })
    expect(await pop('twice')).toEqual([1])
  })

  it.each([
    ['an unknown message', async () => [{ type: 'ack', transactionId: 'x', partitionId: 'y' }]],
    [
      'a wrong lease',
      async () => [ackOf((await leased('wrong-lease', 1))[0], { leaseId: 'dead' })],
    ],
    [
      'a transaction id that is stored already',
      async () => {
        const item = { queue: 'taken', payload: 1, transactionId: 'taken' }
        await broker.call('POST /api/v1/push', { json: { items: [item] } })
        return [{ type: 'push', items: [item] }]
      },
    ],
  ])('leaves nothing behind after %s', async (name, operations) => {
    const queue = `trace-${name.replaceAll(' ', '-')}`
    const good = await leased(`good-${queue}`, 1)
    const body = await commit([
      { type: 'push', items: [{ queue, payload: 1 }] },
      ackOf(good[0]),
      ...(await operations()),
    ])
    expect(body).toEqual({
      transactionId: expect.any(String),
      success: false,
      error: expect.any(String),
      results: [],
    })
    expect(await pop(queue)).toEqual([])
    const again = await commit([ackOf(good[0])], [good[0]?.leaseId])
    expect(again.success).toBe(true)
  })

  it('with an expired required lease leaves no trace', async () => {
    const messages = await leased('expired', 1, '&leaseSeconds=1')
    const lease = messages[0]?.leaseId
    // The next pop waits until the lease has run out.
    expect(await pop('expired', '&wait=true&timeout=20000&leaseSeconds=60')).toEqual([1])
    const body = await commit(
      [{ type: 'push', items: [{ queue: 'expired-out', payload: 1 }] }, ackOf(messages[0])],
      [lease],
    )
    expect([body.success, body.results]).toEqual([false, []])
    expect(await pop('expired-out')).toEqual([])
    expect((await broker.call('GET /api/v1/resources/queues/expired-out')).status).toBe(404)
  })

  it('ends a lease when its acks reach the end of the batch', async () => {
    const messages = await leased('three', 3)
    const lease = messages[0]?.leaseId
    expect(
      (
        await commit(
          messages.map((message) => ackOf(message)),
          [lease],
        )
      ).success,
    ).toBe(true)
    const { body } = await broker.call(`POST /api/v1/lease/${lease}/extend`)
    expect(body.success).toBe(false)
  })

  it('moves a failed message to the dead letters once its retries are spent, together with its pushes', async () => {
    await broker.call('POST /api/v1/configure', {
      json: { queue: 'zero', options: { retryLimit: 0 } },
    })
    const messages = await leased('zero', 1)
    const { results } = await commit([
      ackOf(messages[0], { status: 'failed', error: 'bad' }),
      { type: 'push', items: [{ queue: 'zero-out', payload: 'kept' }] },
    ])
    expect(results[0]).toMatchObject({ type: 'ack', dlq: true })
    expect(await pop('zero')).toEqual([])
    expect(await pop('zero-out')).toEqual(['kept'])
  })

  it.each([
    ['no body', undefined],
    ['no operations', {}],
    ['operations that are no array', { operations: {} }],
    ['no operation at all', { operations: [] }],
    ['an operation that is no object', { operations: [5] }],
    ['an unknown type', { operations: [{ type: 'pop' }] }],
    ['a push without a queue', { operations: [{ type: 'push', payload: 1 }] }],
    ['a push item without a queue', { operations: [{ type: 'push', items: [{}] }] }],
    ['an ack without a partition', { operations: [{ type: 'ack', transactionId: 'x' }] }],
    ['an ack without a transaction id', { operations: [{ type: 'ack', partitionId: 'x' }] }],
    [
      'leases that are no array',
      { operations: [{ type: 'push', queue: 'q' }], requiredLeases: 'x' },
    ],
    ['malformed JSON', '{"operations":['],
  ])('is 400 with the shape of a refusal for %s', async (_name, json) => {
    const answer = await broker.call(ROUTE, { json })
    expect(answer.status).toBe(400)
    expect(answer.body).toEqual({
      transactionId: expect.any(String),
      success: false,
      error: expect.any(String),
      results: [],
    })
  })

  it('names the wrong place', async () => {
    const json = { operations: [{ type: 'push', items: [{ queue: 'q' }, { queue: 5 }] }] }
    const { body } = await broker.call(ROUTE, { json })
    expect(body.error).toBe('operations[0].items[1].queue must be text')
  })
})
