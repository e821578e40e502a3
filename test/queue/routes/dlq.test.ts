import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  buryMessage,
  clearDeadLetters,
  listDeadLetters,
  replayDeadLetter,
  retryMessage,
} from '../../../src/queue/shapes/dlq.ts'
import { described, startTestBroker, type TestBroker } from '../../support/broker.ts'

let broker: TestBroker
beforeAll(async () => {
  broker = await startTestBroker()
})
afterAll(() => broker.stop())

const pop = async (queue: string, query = '') => {
  const reply = await broker.call(`GET /api/v1/pop/queue/${queue}?batch=100${query}`)
  return reply.status === 204 ? [] : reply.body.messages
}
const dlq = async (query: string) =>
  described(listDeadLetters, 200, await broker.call(`GET /api/v1/dlq?${query}`))

/** Pushes one message and sends it to the dead letters of a group. */
async function deadLetter(queue: string, payload: unknown, more: object = {}, group = '') {
  await broker.call('POST /api/v1/push', { json: { items: [{ queue, payload, ...more }] } })
  const [message] = await pop(queue, `&consumerGroup=${group}`)
  const json = { ...message, consumerGroup: group, status: 'dlq', error: 'poison' }
  await broker.call('POST /api/v1/ack', { json })
  return message
}

describe('listing dead letters', () => {
  it('has exactly the documented members, newest first', async () => {
    const first = await deadLetter('list', { a: '"' }, { transactionId: 't1', partition: 'p' })
    await deadLetter('list', 2, { transactionId: 't2' })
    const body = await dlq('queue=list')
    expect(body.total).toBe(2)
    expect(body.pagination).toEqual({ limit: 100, offset: 0 })
    expect(body.messages.map((row: { data: unknown }) => row.data)).toEqual([2, { a: '"' }])
    expect(body.messages[1]).toEqual({
      id: expect.any(String),
      messageId: first.id,
      transactionId: 't1',
      partitionId: first.partitionId,
      queue: 'list',
      partition: 'p',
      consumerGroup: '__QUEUE_MODE__',
      errorMessage: 'poison',
      retryCount: 0,
      data: { a: '"' },
      producerSub: null,
      createdAt: first.createdAt,
      failedAt: expect.any(String),
      isEncrypted: false,
    })
  })

  it('filters by group, partition and time, and pages with the full total', async () => {
    await deadLetter('filter', 1, { partition: 'a' }, 'g1')
    await deadLetter('filter', 2, { partition: 'b' }, 'g1')
    expect((await dlq('queue=filter&consumerGroup=g1&partition=b')).messages).toHaveLength(1)
    expect((await dlq('queue=filter&consumerGroup=nobody')).total).toBe(0)
    const paged = await dlq('queue=filter&limit=1&offset=1')
    expect([paged.total, paged.messages.length, paged.pagination]).toEqual([
      2,
      1,
      { limit: 1, offset: 1 },
    ])
    const all = (await dlq('queue=filter')).messages
    const failedAt = encodeURIComponent(all[0].failedAt)
    expect((await dlq(`queue=filter&from=${failedAt}&to=${failedAt}`)).total).toBeGreaterThan(0)
    expect((await dlq('queue=filter&to=2020-01-01')).total).toBe(0)
    expect((await dlq('queue=filter&from=2999-01-01')).total).toBe(0)
    expect((await dlq('queue=filter&limit=x&offset=-1')).total).toBe(2)
  })

  it('is empty for an unknown queue', async () => {
    expect(await dlq('queue=nowhere')).toMatchObject({ messages: [], total: 0 })
  })
})

describe('clearing dead letters', () => {
  it('deletes those of a queue, or of one group on it', async () => {
    await deadLetter('clear', 1, {}, 'g1')
    await deadLetter('clear', 2, {}, 'g2')
    const clear = async (query: string) =>
      described(clearDeadLetters, 200, await broker.call(`DELETE /api/v1/dlq?${query}`))
    expect(await clear('queue=clear&consumerGroup=g1')).toEqual({
      success: true,
      deleted: 1,
      queue: 'clear',
      consumerGroup: 'g1',
    })
    expect(await clear('queue=clear')).toMatchObject({ deleted: 1, consumerGroup: null })
  })

  it('is 400 without a queue', async () => {
    const answer = await broker.call('DELETE /api/v1/dlq')
    expect([answer.status, answer.body]).toEqual([400, { error: 'queue is required' }])
  })
})

describe('replaying a dead letter', () => {
  const replay = (id: string, json?: unknown) =>
    broker.call(`POST /api/v1/dlq/${id}/replay`, { json })

  it('pushes the copy to its origin for all groups and removes the row', async () => {
    await deadLetter('origin', 'again', { transactionId: 'x' })
    const [row] = (await dlq('queue=origin')).messages
    const body = described(replayDeadLetter, 200, await replay(row.id))
    expect(body).toEqual({
      success: true,
      result: 'moved',
      queue: 'origin',
      partition: 'Default',
      consumerGroup: '__QUEUE_MODE__',
      dlqId: row.id,
      originalTransactionId: 'x',
      replayedAs: {
        index: 0,
        message_id: expect.any(String),
        transaction_id: `dlq:${row.id}`,
        queueName: 'origin',
        status: 'queued',
      },
      dlqRowRemoved: true,
    })
    expect((await dlq('queue=origin')).total).toBe(0)
    expect((await pop('origin'))[0]).toMatchObject({
      data: 'again',
      transactionId: `dlq:${row.id}`,
    })
    const gone = described(replayDeadLetter, 404, await replay(row.id))
    expect(gone).toMatchObject({ success: false, result: 'gone', dlqId: row.id })
  })

  it('goes where the body says', async () => {
    await deadLetter('from', 1)
    const [row] = (await dlq('queue=from')).messages
    const body = described(
      replayDeadLetter,
      200,
      await replay(row.id, { queue: 'to', partition: 'p' }),
    )
    expect(body).toMatchObject({ queue: 'to', partition: 'p' })
    expect((await pop('to'))[0]).toMatchObject({ partition: 'p' })
  })

  it.each([{ queue: ' ' }, { queue: '' }, { partition: 5 }, { queue: null }, []])(
    'is 400 for %j',
    async (json) => {
      expect((await replay('x', json)).status).toBe(400)
    },
  )

  it('is 503 while pushes are diverted', async () => {
    const maintenance = (enabled: boolean) =>
      broker.call('POST /api/v1/system/maintenance', { json: { enabled } })
    await maintenance(true)
    expect((await replay('x')).status).toBe(503)
    await maintenance(false)
    expect((await replay('x')).status).toBe(404)
  })
})

describe('a message by its address', () => {
  it('is retried from its newest dead letter', async () => {
    const message = await deadLetter('address', 1)
    const route = `POST /api/v1/messages/${message.partitionId}/${message.transactionId}/retry`
    const body = described(retryMessage, 200, await broker.call(route))
    expect(body).toMatchObject({ result: 'moved', originalTransactionId: message.transactionId })
    expect((await broker.call(route)).status).toBe(404)
  })

  it('is moved to the dead letters when it is the next one of the group', async () => {
    await broker.call('POST /api/v1/push', {
      json: {
        items: [1, 2].map((payload) => ({ queue: 'bury', payload, transactionId: `b${payload}` })),
      },
    })
    const [first] = await pop('bury', '&consumerGroup=peek')
    const route = (id: string) => `POST /api/v1/messages/${first.partitionId}/${id}/dlq`
    const json = { consumerGroup: 'g', error: 'by hand' }
    const body = described(buryMessage, 200, await broker.call(route('b1'), { json }))
    expect(body).toEqual({
      success: true,
      partitionId: first.partitionId,
      transactionId: 'b1',
      consumerGroup: 'g',
      dlqId: expect.any(String),
    })
    expect((await dlq('queue=bury&consumerGroup=g')).messages).toMatchObject([
      { errorMessage: 'by hand' },
    ])
    expect(
      (await pop('bury', '&consumerGroup=g')).map((one: { data: unknown }) => one.data),
    ).toEqual([2])
    const plain = described(buryMessage, 200, await broker.call(route('b1')))
    expect(plain.consumerGroup).toBe('__QUEUE_MODE__')
    expect((await dlq('queue=bury&consumerGroup=__QUEUE_MODE__')).messages[0].errorMessage).toBe(
      'Moved to DLQ manually',
    )
    expect((await broker.call(route('nobody'))).status).toBe(404)
  })
})
