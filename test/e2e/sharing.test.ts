import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { BROKERS, startTestBroker, type TestBroker } from '../support/broker.ts'

let broker: TestBroker
beforeAll(async () => {
  broker = await startTestBroker()
})
afterAll(() => broker.stop())

interface Message {
  readonly id: string
  readonly transactionId: string
  readonly partitionId: string
  readonly partition: string
  readonly leaseId: string
  readonly data: number
}

const WORKERS = 10
const numbers = (count: number) => Array.from({ length: count }, (_, at) => at)
const push = (items: readonly object[]) => broker.call('POST /api/v1/push', { json: { items } })

/** Pushes `count` messages, 1000 per request, numbered inside each of the partitions. */
async function fill(queue: string, count: number, partitions: number): Promise<void> {
  const items = numbers(count).map((at) => ({
    queue,
    partition: `p${at % partitions}`,
    payload: Math.floor(at / partitions),
  }))
  const requests = numbers(Math.ceil(count / 1000)).map((at) =>
    items.slice(at * 1000, (at + 1) * 1000),
  )
  // Requests of one partition follow each other, so that its numbers are in commit order.
  for (const request of requests) expect((await push(request)).status).toBe(201)
}

async function take(queue: string, query: string): Promise<readonly Message[]> {
  const reply = await broker.call(`GET /api/v1/pop/queue/${queue}?${query}`)
  return reply.status === 204 ? [] : reply.body.messages
}

async function complete(messages: readonly Message[], consumerGroup = ''): Promise<void> {
  const json = { acknowledgments: messages, consumerGroup }
  const { body } = await broker.call('POST /api/v1/ack/batch', { json })
  expect(body.every((result: { success: boolean }) => result.success)).toBe(true)
}

/** Takes and completes until a pop is empty; `seen` is told of each message. */
async function work(queue: string, query: string, seen: (message: Message) => void): Promise<void> {
  for (let batch = await take(queue, query); batch.length > 0; batch = await take(queue, query)) {
    for (const message of batch) seen(message)
    await complete(batch, new URLSearchParams(query).get('consumerGroup') ?? '')
  }
}

describe('ten workers over HTTP', () => {
  it('share 100 000 messages in full batches, each message once and in order per partition', async () => {
    const [count, partitions] = [100_000, 20]
    await fill('shared', count, partitions)
    const next = new Map<string, number>()
    let total = 0
    let short = 0
    const worker = async () => {
      const query = 'batch=500&wait=true&timeout=2000'
      while (total < count) {
        const batch = await take('shared', query)
        if (batch.length < 500) short += 1
        for (const { partition, data } of batch) {
          expect(data).toBe(next.get(partition) ?? 0)
          next.set(partition, data + 1)
        }
        total += batch.length
        if (batch.length > 0) await complete(batch)
      }
    }
    await Promise.all(numbers(WORKERS).map(worker))
    expect(total).toBe(count)
    expect([...next.values()]).toEqual(numbers(partitions).map(() => count / partitions))
    // Only the empty polls at the very end may be short: a claimed partition fills its batch.
    expect(short).toBeLessThanOrEqual(WORKERS)
  }, 900_000)

  it('consume 5 000 partitions of one message each with batch 1', async () => {
    await fill('wide', 5000, 5000)
    const seen: string[] = []
    const workers = numbers(WORKERS).map(() =>
      work('wide', 'batch=1', (message) => seen.push(message.partition)),
    )
    await Promise.all(workers)
    expect(seen).toHaveLength(5000)
    expect(new Set(seen).size).toBe(5000)
  }, 900_000)
})

describe('twenty groups over HTTP', () => {
  it('each see everything once', async () => {
    await fill('groups', 500, 5)
    const counts = await Promise.all(
      numbers(20).map(async (at) => {
        const ids: string[] = []
        const query = `batch=100&partitions=5&consumerGroup=g${at}`
        await work('groups', query, (message) => ids.push(message.id))
        return [ids.length, new Set(ids).size]
      }),
    )
    expect(counts).toEqual(numbers(20).map(() => [500, 500]))
  })
})

describe('eight concurrent pushes of one transaction id', () => {
  it('give one queued and seven duplicate with the id of the winner', async () => {
    for (const round of numbers(20)) {
      const item = { queue: 'race', payload: round, transactionId: `t${round}` }
      const replies = await Promise.all(numbers(8).map(() => push([item])))
      const results = replies.map((reply) => reply.body[0])
      const winners = results.filter((result) => result.status === 'queued')
      expect(winners).toHaveLength(1)
      expect(results.filter((result) => result.status === 'duplicate')).toHaveLength(7)
      expect(new Set(results.map((result) => result.message_id)).size).toBe(1)
    }
  })
})

describe('waiting workers', () => {
  it('are woken by one push as many as can be served', async () => {
    const waiting = numbers(5).map(() => take('wake', 'wait=true&timeout=20000'))
    const here = Math.floor(5 / BROKERS)
    while (broker.broker.engine.counters().parked < here) await new Promise(setImmediate)
    await push(numbers(5).map((at) => ({ queue: 'wake', partition: `p${at}`, payload: at })))
    const got = (await Promise.all(waiting)).flat().map((message) => message.data)
    expect(got.toSorted()).toEqual([0, 1, 2, 3, 4])
  })
})
