import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startTestBroker, type TestBroker } from '../support/broker.ts'
import { startChildBroker } from '../support/child-broker.ts'
import { QueueClient } from '../support/queue-client.ts'
import { buffered, freshQueue, until } from '../support/traffic.ts'

const PARTITIONS = ['p0', 'p1', 'p2']
const PUSHES = 80
const PER_PUSH = 5

let broker: TestBroker
let client: QueueClient
beforeAll(async () => {
  broker = await startTestBroker()
  client = new QueueClient({ url: broker.url })
})
afterAll(() => broker.stop())

function maintenance(enabled: boolean): Promise<unknown> {
  return client.request('POST', '/api/v1/system/maintenance', { enabled })
}

/** Pushes the numbers of one partition in order, while `onPush` may throw the switch. */
async function produce(queue: string, partition: string, onPush: () => Promise<void>) {
  for (let at = 0; at < PUSHES; at += 1) {
    const numbers = Array.from({ length: PER_PUSH }, (_, one) => at * PER_PUSH + one)
    const ids = numbers.map((n) => `${partition}-${n}`)
    const entries = await client.push(queue, numbers, { partition, ids })
    expect(entries.every(({ status }) => status === 'queued' || status === 'buffered')).toBe(true)
    await onPush()
  }
}

/** Consumes until `wanted` messages came, each partition's in their order. */
async function consume(queue: string, wanted: number): Promise<Map<string, number[]>> {
  const seen = new Map(PARTITIONS.map((partition) => [partition, [] as number[]]))
  let count = 0
  const worker = async () => {
    while (count < wanted) {
      const messages = await client.pop(queue, { batch: 20, wait: true, timeout: 500 })
      for (const { partition, data } of messages) seen.get(partition)?.push(Number(data))
      count += messages.length
      if (messages.length > 0) await client.ack(messages)
    }
  }
  await Promise.all([worker(), worker(), worker()])
  return seen
}

describe('push maintenance under load', () => {
  it('loses, doubles and reorders nothing while it goes on and off', async () => {
    const queue = freshQueue()
    let pushes = 0
    const statuses = new Set<boolean>()
    const onPush = async () => {
      pushes += 1
      if (pushes % 40 !== 0) return
      const on = (pushes / 40) % 2 === 1
      statuses.add(on)
      await maintenance(on)
    }
    const total = PARTITIONS.length * PUSHES * PER_PUSH
    const consumed = consume(queue, total)
    await Promise.all(PARTITIONS.map((partition) => produce(queue, partition, onPush)))
    await maintenance(false)
    const seen = await consumed
    expect(statuses).toEqual(new Set([true, false]))
    const wanted = Array.from({ length: PUSHES * PER_PUSH }, (_, n) => n)
    for (const partition of PARTITIONS) expect(seen.get(partition)).toEqual(wanted)
    expect(await client.pop(queue)).toEqual([])
    expect(await buffered(broker)).toBe(0)
  })

  it('keeps switch and buffer over a kill, and replays them after the next start', async () => {
    const dataDir = `${broker.dataDir}/child`
    const first = await startChildBroker({ DATA_DIR: dataDir })
    const pusher = new QueueClient({ url: first.url })
    await pusher.push('q', ['stored'], { ids: ['s'] })
    await pusher.request('POST', '/api/v1/system/maintenance', { enabled: true })
    await pusher.request('POST', '/api/v1/system/maintenance/pop', { enabled: true })
    await pusher.push('q', ['a', 'b', 'c'], { ids: ['a', 'b', 'c'] })
    first.signal('SIGKILL')
    await first.exited

    const second = await startChildBroker({ DATA_DIR: dataDir })
    const { body } = await second.call('GET /api/v1/system/maintenance')
    expect(body).toMatchObject({
      maintenanceMode: true,
      popMaintenanceMode: true,
      bufferedMessages: 3,
    })
    const popper = new QueueClient({ url: second.url })
    expect(await popper.pop('q', { batch: 10 })).toEqual([])
    await popper.request('POST', '/api/v1/system/maintenance/pop', { enabled: false })
    await popper.request('POST', '/api/v1/system/maintenance', { enabled: false })
    await until(
      () => buffered(second),
      (left) => left === 0,
    )
    const messages = await popper.pop('q', { batch: 10 })
    expect(messages.map(({ transactionId }) => transactionId)).toEqual(['s', 'a', 'b', 'c'])
    second.signal('SIGTERM')
    await second.exited
  })

  it('goes on with a replay that a kill cut short', async () => {
    const dataDir = `${broker.dataDir}/cut`
    const first = await startChildBroker({ DATA_DIR: dataDir })
    const pusher = new QueueClient({ url: first.url })
    await pusher.request('POST', '/api/v1/system/maintenance', { enabled: true })
    const numbers = Array.from({ length: 3000 }, (_, n) => n)
    await pusher.push('q', numbers)
    // The answer comes before the replay: the kill finds it at its beginning or in the middle.
    await pusher.request('POST', '/api/v1/system/maintenance', { enabled: false })
    first.signal('SIGKILL')
    await first.exited

    const second = await startChildBroker({ DATA_DIR: dataDir })
    await until(
      () => buffered(second),
      (left) => left === 0,
    )
    const popper = new QueueClient({ url: second.url })
    const messages = await popper.pop('q', { batch: 5000 })
    expect(messages.map(({ data }) => data)).toEqual(numbers)
    second.signal('SIGTERM')
    await second.exited
  })
})
