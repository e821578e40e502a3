import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startTestBroker, type TestBroker } from '../support/broker.ts'
import { ClientError, losingAnswers, QueueClient } from '../support/queue-client.ts'
import { freshQueue } from '../support/traffic.ts'

let broker: TestBroker
let client: QueueClient
beforeAll(async () => {
  broker = await startTestBroker()
  client = new QueueClient({ url: broker.url })
})
afterAll(() => broker.stop())

/** A client whose network carries out the first request to `path` and loses the answer. */
function unlucky(path: string, losses = 1): QueueClient {
  return new QueueClient({ url: broker.url, fetch: losingAnswers(path, losses) })
}

/** A client that counts its requests and gets this status instead of an answer. */
function refused(status: number) {
  const seen = { requests: 0 }
  const answer = async () => {
    seen.requests += 1
    return Response.json({ error: 'told' }, { status })
  }
  return { seen, client: new QueueClient({ url: broker.url, fetch: answer }) }
}

const IDS = (messages: readonly { transactionId: string }[]) =>
  messages.map(({ transactionId }) => transactionId)

describe('the client on the wire', () => {
  it('creates with its nine defaults and finds each option echoed', async () => {
    const queue = freshQueue()
    const reply = await client.create(queue, { leaseTime: 60, windowBuffer: 0 })
    expect(reply).toMatchObject({ configured: true, options: { leaseTime: 60, retryLimit: 3 } })
    await expect(client.create('')).resolves.toMatchObject({ configured: true })
    expect(await client.delete(queue)).toMatchObject({ deleted: true })
  })

  it('pushes nothing, pops nothing and acks nothing without a fault', async () => {
    const queue = freshQueue()
    expect(await client.push(queue, [])).toEqual([])
    expect(await client.pop(queue)).toEqual([])
    const acks = await client.request('POST', '/api/v1/ack/batch', { acknowledgments: [] })
    expect(acks).toEqual([])
  })

  it('traces, browses and deletes messages as the admin object does', async () => {
    const queue = freshQueue()
    await client.push(queue, [{ n: 1 }], { ids: ['m1'] })
    const [message] = await client.pop(queue)
    if (message === undefined) throw new Error('nothing popped')
    const made = await client.trace(message, { step: 'start' }, { traceNames: ['order'] })
    expect(made).toMatchObject({ success: true })
    const { partitionId } = message
    expect(await client.get(`/api/v1/traces/${partitionId}/m1`)).toMatchObject({
      traces: [{ data: { step: 'start' } }],
    })
    expect(await client.get(`/api/v1/messages?queue=${queue}`)).toMatchObject({
      messages: [{ transactionId: 'm1', status: 'processing' }],
    })
    await client.request('DELETE', `/api/v1/messages/${partitionId}/m1`)
    await expect(client.get(`/api/v1/messages/${partitionId}/m1`)).rejects.toMatchObject({
      message: 'Message not found',
      status: 404,
    })
  })

  it('reads JSON from /metrics', async () => {
    expect(await client.get('/metrics')).toMatchObject({ uptime: expect.any(Number) })
  })
})

describe("the client's retries", () => {
  it('a 4xx is final', async () => {
    const { seen, client: told } = refused(404)
    await expect(told.get('/x')).rejects.toEqual(new ClientError('told', 404))
    expect(seen.requests).toBe(1)
  })

  it('a 5xx is tried three times', async () => {
    const { seen, client: told } = refused(503)
    await expect(told.get('/x')).rejects.toMatchObject({ status: 503 })
    expect(seen.requests).toBe(3)
  })

  it('a push whose answer was lost is stored once, and says so', async () => {
    const queue = freshQueue()
    const entries = await unlucky('/push').push(queue, [1, 2], { ids: ['a', 'b'] })
    expect(entries.map(({ status }) => status)).toEqual(['duplicate', 'duplicate'])
    expect(IDS(await client.pop(queue, { batch: 10 }))).toEqual(['a', 'b'])
    const [again] = await client.push(queue, [1], { ids: ['a'] })
    expect(again?.message_id).toBe(entries[0]?.message_id)
  })

  it('an ack whose answer was lost is a harmless repeat', async () => {
    const queue = freshQueue()
    await client.push(queue, [1, 2], { ids: ['a', 'b'] })
    const messages = await client.pop(queue, { batch: 2 })
    // The lease has ended with the batch, so the repeat fails per item, under 200.
    await expect(unlucky('/ack').ack(messages)).resolves.toBeInstanceOf(Array)
    expect(await client.pop(queue)).toEqual([])
    const without = messages.map((message) => ({ ...message, leaseId: '' }))
    expect(await client.ack(without)).toMatchObject([
      { success: true, noop: true },
      { success: true, noop: true },
    ])
  })

  it('a pop whose answer was lost costs a lease and no message', async () => {
    const queue = freshQueue()
    await client.create(queue, { leaseTime: 1 })
    await client.push(queue, [1], { ids: ['a'] })
    const messages = await unlucky('/pop').pop(queue, { wait: true, timeout: 5000 })
    expect(IDS(messages)).toEqual(['a'])
  })

  it('a transaction whose answer was lost is not done twice', async () => {
    const queue = freshQueue()
    await client.push(queue, [1], { ids: ['a'] })
    const [message] = await client.pop(queue)
    const body = {
      operations: [
        { type: 'push', items: [{ queue: `${queue}.out`, payload: 1 }] },
        { type: 'ack', transactionId: 'a', partitionId: message?.partitionId },
      ],
      requiredLeases: [message?.leaseId],
    }
    const reply = await unlucky('/transaction').request('POST', '/api/v1/transaction', body)
    expect(reply).toMatchObject({ success: false, error: expect.any(String) })
    expect(await client.pop(`${queue}.out`, { batch: 10 })).toHaveLength(1)
  })

  it('a trace whose answer was lost is at worst there twice', async () => {
    const queue = freshQueue()
    await client.push(queue, [1], { ids: ['a'] })
    const [message] = await client.pop(queue)
    if (message === undefined) throw new Error('nothing popped')
    await unlucky('/traces').trace(message, 1)
    const reply = await client.get(`/api/v1/traces/${message.partitionId}/a`)
    expect(reply).toMatchObject({ traces: [{ data: 1 }, { data: 1 }] })
  })
})
