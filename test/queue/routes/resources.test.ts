import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  clearQueue,
  deleteQueue,
  listNamespaces,
  listPartitions,
  listQueues,
  listTasks,
  overview,
  queueDepth,
  showQueue,
} from '../../../src/queue/shapes/resources.ts'
import { described, startTestBroker, type TestBroker } from '../../support/broker.ts'

let broker: TestBroker
beforeAll(async () => {
  broker = await startTestBroker()
})
afterAll(() => broker.stop())

const push = (...items: object[]) => broker.call('POST /api/v1/push', { json: { items } })
const get = (path: string) => broker.call(`GET /api/v1/resources${path}`)
const UNKNOWN = { error: 'Queue not found' }

describe('queues', () => {
  it('are listed newest first with three counters', async () => {
    await push({ queue: 'r.first', payload: 1 })
    await push({ queue: 'r.second', payload: 1 }, { queue: 'r.second', partition: 'p', payload: 2 })
    await broker.call('GET /api/v1/pop/queue/r.second/partition/p')
    const { queues } = described(listQueues, 200, await get('/queues'))
    const own = queues.filter((queue: { namespace: string }) => queue.namespace === 'r')
    expect(own).toEqual([
      {
        id: expect.any(String),
        name: 'r.second',
        namespace: 'r',
        task: 'second',
        createdAt: expect.any(String),
        partitions: 2,
        messages: { total: 2, pending: 2, processing: 1 },
      },
      expect.objectContaining({ name: 'r.first', partitions: 1 }),
    ])
    const filtered = described(listQueues, 200, await get('/queues?namespace=r&task=first&x=1'))
    expect(filtered.queues).toHaveLength(1)
  })

  it('are shown with partitions and six counters, and are 404 when unknown', async () => {
    await push({ queue: 'shown', payload: 1 }, { queue: 'shown', payload: 2 })
    await broker.call('GET /api/v1/pop/queue/shown?autoAck=true')
    const body = described(showQueue, 200, await get('/queues/shown'))
    const six = { total: 2, pending: 1, processing: 0, completed: 1, failed: 0, deadLetter: 0 }
    expect(body.totals).toEqual(six)
    expect(body.partitions).toEqual([
      {
        id: expect.any(String),
        name: 'Default',
        createdAt: expect.any(String),
        stats: six,
        oldestMessage: expect.any(String),
        newestMessage: expect.any(String),
      },
    ])
    expect(await get('/queues/nowhere')).toMatchObject({ status: 404, body: UNKNOWN })
  })

  it('tell the depth of one group', async () => {
    await push({ queue: 'deep', payload: 1 }, { queue: 'deep', payload: 2 })
    await broker.call('GET /api/v1/pop/queue/deep?consumerGroup=g&autoAck=true')
    expect(described(queueDepth, 200, await get('/queues/deep/depth?group=g'))).toEqual({
      queue: 'deep',
      consumerGroup: 'g',
      depth: 1,
    })
    expect(described(queueDepth, 200, await get('/queues/deep/depth')).depth).toBe(2)
    expect((await get('/queues/nowhere/depth')).status).toBe(404)
  })

  it.each(['a/b', 'a%2Fb', 'a:b', 'a+b', 'ü', '..', '😀'.repeat(255), ' ', '__proto__'])(
    'named %j can be made, fetched, cleared and deleted',
    async (queue) => {
      const path = encodeURIComponent(queue).replaceAll('.', '%2E')
      expect((await broker.call('POST /api/v1/configure', { json: { queue } })).status).toBe(200)
      // Not every client keeps %2E in a path; the names are for those that do.
      if (queue !== '..') {
        expect((await get(`/queues/${path}`)).body.name).toBe(queue)
        const cleared = await broker.call(`DELETE /api/v1/queues/${path}/clear`)
        expect(described(clearQueue, 200, cleared).queue).toBe(queue)
        const gone = await broker.call(`DELETE /api/v1/resources/queues/${path}`)
        expect(described(deleteQueue, 200, gone)).toEqual({ deleted: true, queue, existed: true })
      }
    },
  )

  it.each(['x'.repeat(256), '😀'.repeat(256), 'a\u0000'])(
    'named %j are refused alike everywhere',
    async (queue) => {
      const path = encodeURIComponent(queue)
      const answers = [
        await broker.call('POST /api/v1/configure', { json: { queue } }),
        await get(`/queues/${path}`),
        await broker.call(`DELETE /api/v1/resources/queues/${path}`),
        await broker.call(`DELETE /api/v1/queues/${path}/clear`),
        await broker.call(`GET /api/v1/pop/queue/${path}`),
        await broker.call(`GET /api/v1/status/queues/${path}`),
        await broker.call(`GET /api/v1/status/queues/${path}/messages`),
      ]
      const error = 'queue must be text of 1 to 255 characters'
      expect(answers.map((answer) => [answer.status, answer.body])).toEqual(
        answers.map(() => [400, { error }]),
      )
    },
  )
})

describe('deleting a queue', () => {
  it('starts clean afterwards: old transaction ids are free again', async () => {
    const item = { queue: 'reborn', payload: 1, transactionId: 'same' }
    await push(item)
    await broker.call('DELETE /api/v1/resources/queues/reborn')
    expect((await push(item)).body[0].status).toBe('queued')
    expect((await get('/queues/reborn')).body.totals.total).toBe(1)
  })

  it('of an unknown name is 200 without an error member', async () => {
    const reply = await broker.call('DELETE /api/v1/resources/queues/nowhere')
    expect(described(deleteQueue, 200, reply)).toEqual({
      deleted: false,
      existed: false,
      queue: 'nowhere',
      message: 'Queue not found',
    })
  })
})

describe('clearing a queue', () => {
  it('deletes the messages of one partition or all, and keeps the queue', async () => {
    await push(
      { queue: 'full', partition: 'a', payload: 1 },
      { queue: 'full', partition: 'b', payload: 2 },
      { queue: 'full', partition: 'b', payload: 3 },
    )
    const clear = async (query: string) =>
      described(clearQueue, 200, await broker.call(`DELETE /api/v1/queues/full/clear${query}`))
    expect(await clear('?partition=b')).toEqual({
      success: true,
      queue: 'full',
      partition: 'b',
      deleted: 2,
    })
    expect(await clear('')).toMatchObject({ partition: null, deleted: 1 })
    expect((await broker.call('GET /api/v1/pop/queue/full')).status).toBe(204)
    await push({ queue: 'full', partition: 'b', payload: 4 })
    expect((await broker.call('GET /api/v1/pop/queue/full')).body.messages[0].data).toBe(4)
  })

  it('is 404 for an unknown queue or partition', async () => {
    expect((await broker.call('DELETE /api/v1/queues/nowhere/clear')).status).toBe(404)
    expect((await broker.call('DELETE /api/v1/queues/full/clear?partition=none')).status).toBe(404)
  })
})

describe('sums', () => {
  it('are told by namespace, by task and for all', async () => {
    await push({ queue: 'sum', namespace: 'sn', task: 'st', payload: 1 })
    const figures = { queues: 1, partitions: 1, messages: { total: 1, pending: 1 } }
    const { namespaces } = described(listNamespaces, 200, await get('/namespaces'))
    expect(namespaces).toContainEqual({ namespace: 'sn', ...figures })
    const { tasks } = described(listTasks, 200, await get('/tasks'))
    expect(tasks).toContainEqual({ task: 'st', ...figures })
    const body = described(overview, 200, await get('/overview'))
    expect(body.queues).toBeGreaterThan(0)
    expect(Date.parse(body.timestamp)).toBeGreaterThan(Date.now() - 60_000)
  })

  it('list partitions, of one queue or all, in pages', async () => {
    await push(
      { queue: 'pp', partition: 'a', payload: 1 },
      { queue: 'pp', partition: 'b', payload: 2 },
    )
    const body = described(listPartitions, 200, await get('/partitions?queue=pp&limit=1'))
    expect(body).toMatchObject({ total: 2, pagination: { limit: 1, offset: 0 } })
    expect(body.partitions).toEqual([
      {
        id: expect.any(String),
        name: expect.stringMatching(/^[ab]$/),
        queue: 'pp',
        createdAt: expect.any(String),
        messages: { total: 1, pending: 1, processing: 0 },
      },
    ])
    described(listPartitions, 200, await get('/partitions'))
  })
})
