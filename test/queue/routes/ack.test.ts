import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ackBatch, ackOne } from '../../../src/queue/shapes/ack.ts'
import { extendLease } from '../../../src/queue/shapes/lease.ts'
import { described, startTestBroker, type TestBroker } from '../../support/broker.ts'

let broker: TestBroker
beforeAll(async () => {
  broker = await startTestBroker()
})
afterAll(() => broker.stop())

interface Popped {
  readonly transactionId: string
  readonly partitionId: string
  readonly leaseId: string
  readonly data: unknown
}

const queueOptions = (queue: string, options: object) =>
  broker.call('POST /api/v1/configure', { json: { queue, options } })

async function leased(queue: string, count: number, query = ''): Promise<readonly Popped[]> {
  const items = Array.from({ length: count }, (_, at) => ({
    queue,
    payload: at + 1,
    transactionId: String(at + 1),
  }))
  await broker.call('POST /api/v1/push', { json: { items } })
  return again(queue, count, query)
}

async function again(queue: string, count: number, query = ''): Promise<readonly Popped[]> {
  const reply = await broker.call(`GET /api/v1/pop/queue/${queue}?batch=${count}${query}`)
  return reply.status === 204 ? [] : reply.body.messages
}

const idsOf = ({ transactionId, partitionId, leaseId }: Popped) => ({
  transactionId,
  partitionId,
  leaseId,
})
const ack = async (json: unknown) =>
  described(ackOne, 200, await broker.call('POST /api/v1/ack', { json }))
const batch = async (json: unknown) =>
  described(ackBatch, 200, await broker.call('POST /api/v1/ack/batch', { json }))
const numbers = (messages: readonly Popped[]) => messages.map((message) => message.data)

describe('an acknowledgement', () => {
  it('answers a bare array of one entry with exactly the documented members', async () => {
    const [message] = await leased('one', 1)
    expect(await ack(idsOf(message!))).toEqual([
      {
        index: 0,
        transactionId: '1',
        success: true,
        error: null,
        leaseReleased: true,
        dlq: false,
        queueName: 'one',
        partitionName: 'Default',
      },
    ])
    expect(await again('one', 1)).toEqual([])
  })

  it('of the last message completes the batch, and repeats are harmless', async () => {
    const messages = await leased('last', 3)
    expect((await ack(idsOf(messages[2]!)))[0]).toMatchObject({
      success: true,
      leaseReleased: true,
    })
    const [repeat] = await ack({ ...idsOf(messages[0]!), leaseId: undefined })
    expect(repeat).toMatchObject({ success: true, noop: true, leaseReleased: false })
    const [late] = await ack({ ...idsOf(messages[0]!), leaseId: '', status: 'failed' })
    expect(late).toMatchObject({
      success: false,
      error: expect.stringMatching(/^already committed/),
    })
  })

  it.each(['completed', 'success', 'acked', 'ok', '', null, undefined])(
    'takes status %j as completed',
    async (status) => {
      const queue = `done-${String(status)}`
      const [message] = await leased(queue, 1)
      await ack({ ...idsOf(message!), status })
      expect(await again(queue, 1)).toEqual([])
    },
  )

  it.each(['failed', 'whatever'])(
    'takes status %j as failed: the message comes again',
    async (status) => {
      const [message] = await leased(`again-${status}`, 1)
      expect((await ack({ ...idsOf(message!), status }))[0]).toMatchObject({
        success: true,
        leaseReleased: true,
      })
      expect(numbers(await again(`again-${status}`, 1))).toEqual([1])
    },
  )

  it('reports unknown ids and dead leases per item under 200', async () => {
    const [message] = await leased('unknown', 1)
    const { partitionId } = message!
    const results = await batch({
      acknowledgments: [
        { transactionId: 'nobody', partitionId },
        { transactionId: '1', partitionId: 'no-uuid' },
        { transactionId: '1', partitionId: '00000000-0000-7000-8000-000000000000' },
        { transactionId: '1', partitionId, leaseId: 'dead' },
      ],
    })
    expect(
      results.map((result: { index: number; success: boolean; error: string }) => [
        result.index,
        result.success,
        result.error,
      ]),
    ).toEqual([
      [0, false, 'Message not found'],
      [1, false, 'Message not found'],
      [2, false, 'Message not found'],
      [3, false, 'invalid or expired lease'],
    ])
  })

  it('in a batch follows the group on top and ignores one inside an entry', async () => {
    const [message] = await leased('groups', 1, '&consumerGroup=g')
    const entry = { ...idsOf(message!), consumerGroup: 'other' }
    expect((await batch({ acknowledgments: [entry], consumerGroup: 'g' }))[0].success).toBe(true)
    expect(await again('groups', 1, '&consumerGroup=g')).toEqual([])
    expect(await again('groups', 1)).toHaveLength(1)
  })

  it('answers [] to an empty batch', async () => {
    expect(await batch({ acknowledgments: [] })).toEqual([])
  })

  it.each([
    ['/ack', undefined],
    ['/ack', {}],
    ['/ack', { transactionId: 'x' }],
    ['/ack', { partitionId: 'x' }],
    ['/ack', { transactionId: 5, partitionId: 'x' }],
    ['/ack', []],
    ['/ack/batch', undefined],
    ['/ack/batch', {}],
    ['/ack/batch', { acknowledgments: {} }],
    ['/ack/batch', { acknowledgments: [{}] }],
    ['/ack/batch', { acknowledgments: [null] }],
    ['/ack/batch', []],
  ])('is 400 on %s for %j', async (path, json) => {
    const answer = await broker.call(`POST /api/v1${path}`, { json })
    expect([answer.status, answer.body]).toEqual([400, { error: expect.any(String) }])
  })

  it('applies nothing of a batch with one malformed entry', async () => {
    const [message] = await leased('malformed', 1)
    const json = { acknowledgments: [idsOf(message!), { transactionId: '1' }] }
    expect((await broker.call('POST /api/v1/ack/batch', { json })).status).toBe(400)
    expect((await ack(idsOf(message!)))[0]).toMatchObject({ success: true, leaseReleased: true })
  })
})

describe('the worked example of the page', () => {
  it('moves the cursor, the lease and the retry count as the page says', async () => {
    const first = await leased('worked', 5)
    const lease = first[0]!.leaseId
    const at = (number: number, status = 'completed', leaseId = lease) =>
      ack({ ...idsOf(first[number - 1]!), leaseId, status })
    expect((await at(3))[0]).toMatchObject({ success: true, leaseReleased: false })
    expect((await at(1))[0]).toMatchObject({ success: true, noop: true })
    expect((await at(1, 'failed'))[0]).toMatchObject({ success: false })
    expect((await at(4, 'failed'))[0]).toMatchObject({ success: true, leaseReleased: true })
    const second = await again('worked', 5)
    expect(numbers(second)).toEqual([4, 5])
    const entries = second.map((message, index) => ({
      ...idsOf(message),
      status: index === 0 ? 'completed' : 'failed',
    }))
    await batch({ acknowledgments: entries })
    const third = await again('worked', 5)
    expect(numbers(third)).toEqual([5])
    expect((await ack({ ...idsOf(third[0]!), status: 'dlq', error: 'poison' }))[0]).toMatchObject({
      dlq: true,
    })
    expect(await again('worked', 5)).toEqual([])
    const { body } = await broker.call('GET /api/v1/dlq?queue=worked')
    expect(body.messages).toMatchObject([{ transactionId: '5', errorMessage: 'poison' }])
  })
})

describe('retry limits', () => {
  it('1 and two failures leave one dead letter with the text of the ack', async () => {
    await queueOptions('limit-1', { retryLimit: 1 })
    await leased('limit-1', 1).then(([message]) =>
      ack({ ...idsOf(message!), status: 'failed', error: 'first' }),
    )
    const [message] = await again('limit-1', 1)
    const [result] = await ack({ ...idsOf(message!), status: 'failed', error: 'second' })
    expect(result).toMatchObject({ success: true, dlq: true })
    expect(await again('limit-1', 1)).toEqual([])
    const { body } = await broker.call('GET /api/v1/dlq?queue=limit-1')
    expect([body.total, body.messages[0].errorMessage]).toEqual([1, 'second'])
  })

  it('3, two failures, then success deliver the same 100 messages three times', async () => {
    await queueOptions('limit-3', { retryLimit: 3 })
    const expected = Array.from({ length: 100 }, (_, at) => at + 1)
    let messages = await leased('limit-3', 100)
    for (const status of ['failed', 'failed', 'completed']) {
      expect(numbers(messages)).toEqual(expected)
      await batch({ acknowledgments: messages.map((message) => ({ ...idsOf(message), status })) })
      messages = await again('limit-3', 100)
    }
    expect(messages).toEqual([])
    expect((await broker.call('GET /api/v1/dlq?queue=limit-3')).body.total).toBe(0)
  })

  it('drop the message when both dead-letter flags are off', async () => {
    await queueOptions('drop', { retryLimit: 0, deadLetterQueue: false, dlqAfterMaxRetries: false })
    const [message] = await leased('drop', 1)
    expect((await ack({ ...idsOf(message!), status: 'failed' }))[0]).toMatchObject({ dlq: false })
    expect(await again('drop', 1)).toEqual([])
    expect((await broker.call('GET /api/v1/dlq?queue=drop')).body.total).toBe(0)
  })

  it('are not touched by retry', async () => {
    await queueOptions('retry', { retryLimit: 0 })
    let messages = await leased('retry', 1)
    for (let round = 0; round < 3; round++) {
      await ack({ ...idsOf(messages[0]!), status: 'retry' })
      messages = await again('retry', 1)
      expect(numbers(messages)).toEqual([1])
    }
  })
})

describe('extending a lease', () => {
  const extend = async (leaseId: string, json?: unknown) =>
    described(extendLease, 200, await broker.call(`POST /api/v1/lease/${leaseId}/extend`, { json }))

  it('answers an object with the expiry under its three names', async () => {
    const [message] = await leased('extend', 1, '&leaseSeconds=5')
    const body = await extend(message!.leaseId, { seconds: 600 })
    expect(body).toEqual({
      leaseId: message!.leaseId,
      success: true,
      renewed: 1,
      newExpiresAt: body.expiresAt,
      expiresAt: expect.any(String),
      lease_expires_at: body.expiresAt,
    })
    const leftMs = Date.parse(body.expiresAt) - Date.now()
    expect(leftMs).toBeGreaterThan(590_000)
  })

  it('takes 60 seconds without a body and never shortens', async () => {
    const [message] = await leased('shorten', 1, '&leaseSeconds=500')
    for (const json of [undefined, {}, { seconds: null }, { seconds: -5 }]) {
      const { expiresAt } = await extend(message!.leaseId, json)
      expect(Date.parse(expiresAt) - Date.now()).toBeGreaterThan(400_000)
    }
  })

  it('answers 200 and success false for an unknown lease', async () => {
    expect(await extend('nobody')).toEqual({
      leaseId: 'nobody',
      success: false,
      renewed: 0,
      newExpiresAt: null,
      expiresAt: null,
      lease_expires_at: null,
    })
  })

  it.each([[{ seconds: 'ten' }], [[]], ['x']])('is 400 for %j', async (json) => {
    const answer = await broker.call('POST /api/v1/lease/x/extend', { json })
    expect(answer.status).toBe(400)
  })
})
