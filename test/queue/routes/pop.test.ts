import { once } from 'node:events'
import net from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { popQueue } from '../../../src/queue/shapes/pop.ts'
import { described, startTestBroker, type TestBroker } from '../../support/broker.ts'
import { rawRequest } from '../../support/raw-request.ts'

let broker: TestBroker
beforeAll(async () => {
  broker = await startTestBroker()
})
afterAll(() => broker.stop())

const push = (...items: object[]) => broker.call('POST /api/v1/push', { json: { items } })
const pop = (path: string) => broker.call(`GET /api/v1/pop${path}`)
const dataOf = (reply: { body: { messages: { data: unknown }[] } }) =>
  reply.body.messages.map((message) => message.data)

describe('a pop reply', () => {
  it('has exactly the documented members', async () => {
    await push({
      queue: 'shape',
      partition: 'p"1',
      payload: { a: 1 },
      transactionId: 't',
      traceId: 'tr',
    })
    const body = described(popQueue, 200, await pop('/queue/shape?batch=5'))
    const lease = body.leaseId
    expect(lease).toMatch(/^[^/]+$/)
    expect(body).toEqual({
      success: true,
      queue: 'shape',
      partition: 'p"1',
      partitionId: expect.any(String),
      leaseId: lease,
      consumerGroup: '__QUEUE_MODE__',
      partitionsClaimed: 1,
      messages: [
        {
          id: expect.any(String),
          transactionId: 't',
          traceId: 'tr',
          data: { a: 1 },
          producerSub: null,
          createdAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/),
          partitionId: body.partitionId,
          partition: 'p"1',
          leaseId: lease,
          consumerGroup: '__QUEUE_MODE__',
          queue: 'shape',
          retryCount: 0,
        },
      ],
    })
  })

  it('is 204 without a body for an unknown queue, partition or nothing new', async () => {
    await push({ queue: 'empty', payload: 1 })
    await pop('/queue/empty?autoAck=true')
    for (const path of [
      '/queue/empty',
      '/queue/nowhere',
      '/queue/empty/partition/none',
      '?task=none',
    ]) {
      const answer = await rawRequest(broker.port, { target: `/api/v1/pop${path}` })
      expect([answer.status, answer.body]).toEqual([204, ''])
      expect(answer.header('content-length')).toBeUndefined()
      expect(answer.header('content-type')).toBeUndefined()
    }
  })
})

describe('the parameters of a pop', () => {
  it('give one message by default and as many as batch says', async () => {
    await push(...[1, 2, 3].map((payload) => ({ queue: 'batch', payload })))
    expect(dataOf(await pop('/queue/batch?consumerGroup=one'))).toEqual([1])
    expect(dataOf(await pop('/queue/batch?consumerGroup=two&batch=2'))).toEqual([1, 2])
    expect(dataOf(await pop('/queue/batch?consumerGroup=low&batch=0'))).toEqual([1])
    expect(dataOf(await pop('/queue/batch?consumerGroup=odd&batch=two'))).toEqual([1])
    expect(dataOf(await pop('/queue/batch?consumerGroup=twice&batch=3&batch=1'))).toEqual([1, 2, 3])
  })

  it('name a partition, or take one partition of any', async () => {
    await push(
      { queue: 'parts', partition: 'a', payload: 1 },
      { queue: 'parts', partition: 'b', payload: 2 },
    )
    expect(dataOf(await pop('/queue/parts/partition/b?batch=10'))).toEqual([2])
    const all = await pop('/queue/parts?consumerGroup=g&batch=10&partitions=2')
    expect(all.body.partitionsClaimed).toBe(2)
    expect(dataOf(all).toSorted()).toEqual([1, 2])
    expect((await pop('/queue/parts?consumerGroup=h&batch=10')).body.partitionsClaimed).toBe(1)
    expect(
      (await pop('/queue/parts?consumerGroup=i&batch=10&partitions=0')).body.partitionsClaimed,
    ).toBe(2)
  })

  it('take numbers of any size for batch, partitions, leaseSeconds and timeout', async () => {
    const sizes = [
      '2147483648',
      '4294967297',
      '999999999999999',
      '99999999999999999999',
      '-2147483649',
    ]
    for (const size of sizes) {
      await push({ queue: `vast${size}`, partition: 'a', payload: 1 })
      const numbers = `batch=${size}&leaseSeconds=${size}&timeout=${size}&partitions=${size}`
      expect((await pop(`/queue/vast${size}?${numbers}`)).body.messages, size).toHaveLength(1)
      expect((await pop(`?namespace=vast${size}&consumerGroup=g&${numbers}`)).status).toBe(200)
    }
  })

  it('consume at delivery with autoAck, without a lease', async () => {
    await push({ queue: 'auto', payload: 1 })
    const { body } = await pop('/queue/auto?autoAck=1')
    expect([body.leaseId, body.messages[0].leaseId]).toEqual(['', ''])
    expect((await pop('/queue/auto')).status).toBe(204)
  })

  it('take only true and 1 for true', async () => {
    await push({ queue: 'flag', payload: 1 })
    expect((await pop('/queue/flag?autoAck=yes&consumerGroup=')).body.leaseId).not.toBe('')
  })

  it('give a lease of their own length', async () => {
    await push({ queue: 'lease', payload: 1 })
    const { body } = await pop('/queue/lease?leaseSeconds=1')
    const again = await pop('/queue/lease?wait=true&timeout=10000')
    expect(again.body.messages[0].id).toBe(body.messages[0].id)
  })

  it('decode form spelling in the query and percent in the path', async () => {
    await push({ queue: 'a/b c', partition: 'ü', payload: 1 })
    const reply = await pop('/queue/a%2Fb%20c/partition/%C3%BC?consumerGroup=my+group%21')
    expect(reply.body).toMatchObject({ queue: 'a/b c', partition: 'ü', consumerGroup: 'my group!' })
  })

  it('start a named group where its first pop says', async () => {
    await push({ queue: 'sub', payload: 'old' })
    expect((await pop('/queue/sub?consumerGroup=late&subscriptionMode=new')).status).toBe(204)
    await push({ queue: 'sub', payload: 'new' })
    expect(dataOf(await pop('/queue/sub?consumerGroup=late&batch=5'))).toEqual(['new'])
    expect(dataOf(await pop('/queue/sub?consumerGroup=all&batch=5'))).toEqual(['old', 'new'])
  })

  it.each(['-99999999-01-01', '9999-12-31T00:00:00Z', 'soon', '1e999'])(
    'take subscriptionFrom=%s without failing',
    async (from) => {
      const path = `/queue/sub?consumerGroup=${encodeURIComponent(from)}&subscriptionFrom=${encodeURIComponent(from)}`
      expect([200, 204]).toContain((await pop(path)).status)
    },
  )
})

describe('a pop by namespace and task', () => {
  it('takes from queues that match both', async () => {
    const json = { namespace: 'ns', task: 't1' }
    await broker.call('POST /api/v1/configure', { json: { queue: 'n1', ...json } })
    await broker.call('POST /api/v1/configure', {
      json: { queue: 'n2', namespace: 'ns', task: 't2' },
    })
    await push({ queue: 'n1', payload: 1 }, { queue: 'n2', payload: 2 })
    expect(dataOf(await pop('?namespace=ns&task=t2&batch=9'))).toEqual([2])
    expect(dataOf(await pop('?namespace=ns&batch=9'))).toEqual([1])
    expect((await pop('?namespace=ns&batch=9')).status).toBe(204)
  })

  it('is 400 when neither is given', async () => {
    expect(await pop('?namespace=&batch=1')).toMatchObject({
      status: 400,
      body: { success: false, error: 'namespace or task is required', messages: [] },
    })
  })
})

describe('a waiting pop', () => {
  it('is answered by the next push', async () => {
    const waiting = pop('/queue/wait?wait=true&timeout=30000')
    await push({ queue: 'wait', payload: 'now' })
    expect(dataOf(await waiting)).toEqual(['now'])
  })

  it('is answered 204 when its time is over', async () => {
    const start = performance.now()
    expect((await pop('/queue/quiet?wait=true&timeout=300')).status).toBe(204)
    expect(performance.now() - start).toBeGreaterThan(250)
  })

  it('claims nothing for a client that went away', async () => {
    const socket = net.connect(broker.port, '127.0.0.1')
    await once(socket, 'connect')
    socket.write('GET /api/v1/pop/queue/gone?wait=true&timeout=60000 HTTP/1.1\r\nHost: x\r\n\r\n')
    while (broker.broker.engine.counters().parked === 0) await new Promise(setImmediate)
    socket.destroy()
    while (broker.broker.engine.counters().parked > 0) await new Promise(setImmediate)
    await push({ queue: 'gone', payload: 'mine' })
    expect(dataOf(await pop('/queue/gone'))).toEqual(['mine'])
  })
})

describe('methods and names', () => {
  it.each(['/queue/q', '/queue/q/partition/p', '?task=t'])(
    'HEAD on /api/v1/pop%s is 405 and takes no lease',
    async (path) => {
      await push({ queue: 'q', partition: 'p', payload: 1, task: 't' })
      const answer = await rawRequest(broker.port, { method: 'HEAD', target: `/api/v1/pop${path}` })
      expect([answer.status, answer.header('allow'), answer.body]).toEqual([405, 'GET', ''])
      expect((await pop('/queue/q?consumerGroup=probe')).status).toBe(200)
      await broker.call('DELETE /api/v1/resources/queues/q')
    },
  )

  it.each([
    `/queue/${'x'.repeat(256)}`,
    `/queue/q/partition/${'x'.repeat(256)}`,
    `/queue/q?consumerGroup=${'x'.repeat(256)}`,
    '/queue/%00',
  ])('answers 400 to a name that nobody can create: %s', async (path) => {
    expect((await pop(path)).status).toBe(400)
  })
})
