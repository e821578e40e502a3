import { expect } from 'vitest'
import type { Caller } from '../support/broker.ts'
import { type Delivered, type Life, setOf } from './kill-workers.ts'

const NAME = 'sums'
const GROUP = `streams.${NAME}`
/** The sink of the stream: one message for each message of the source, in its order. */
export const SINK = 'stream-out'
const LEASE_S = 4

/** What the stream keeps for a partition: how many messages it has seen and the sum of their numbers. */
export interface Running {
  readonly count: number
  readonly sum: number
}

async function registered({ call, ledger }: Life, source: string): Promise<string> {
  const json = { name: NAME, source_queue: source, sink_queue: SINK, config_hash: 'v1' }
  const { status, body } = await call('POST /streams/v1/queries', { json })
  expect(status).toBe(200)
  ledger.answers += 1
  return body.query_id
}

/** The state of one partition as the broker keeps it. */
export async function stateOf(call: Caller, queryId: string, partitionId: string) {
  const json = { query_id: queryId, partition_id: partitionId }
  const { body } = await call('POST /streams/v1/state/get', { json })
  const known: { value: Running } | undefined = body.rows[0]
  return known?.value ?? { count: 0, sum: 0 }
}

/** One cycle over what was popped of one partition: state, sink and ack in one step. */
async function cycle(life: Life, queryId: string, messages: readonly Delivered[]): Promise<void> {
  const { call, ledger } = life
  const last = messages.at(-1)
  if (last === undefined) return
  const before = await stateOf(call, queryId, last.partitionId)
  const sum = messages.reduce((all, { data }) => all + data.n, before.sum)
  const json = {
    query_id: queryId,
    partition_id: last.partitionId,
    consumer_group: GROUP,
    state_ops: [
      { type: 'upsert', key: 'running', value: { count: before.count + messages.length, sum } },
    ],
    push_items: messages.map(({ partition, data }) => ({ queue: SINK, partition, payload: data })),
    ack: {
      transactionId: last.transactionId,
      leaseId: last.leaseId,
      status: 'completed',
      count: messages.length,
    },
  }
  const { status } = await call('POST /streams/v1/cycle', { json })
  // A cycle whose lease has run out is refused whole; its messages come again.
  expect(status).toBe(200)
  ledger.answers += 1
}

/** Registers, then pops and commits cycles, as the stream runner does. Answers the id of its query. */
export async function runner(life: Life, source: string, once = false): Promise<string> {
  const queryId = await registered(life, source)
  for (;;) {
    const query = `batch=20&leaseSeconds=${LEASE_S}&wait=true&timeout=200&partitions=4`
    const reply = await life.call(`GET /api/v1/pop/queue/${source}?consumerGroup=${GROUP}&${query}`)
    life.ledger.answers += 1
    const messages: readonly Delivered[] = reply.status === 204 ? [] : reply.body.messages
    if (once && messages.length === 0) return queryId
    const byPartition = Map.groupBy(messages, ({ partitionId }) => partitionId)
    for (const one of byPartition.values()) await cycle(life, queryId, one)
  }
}

/** Throws push maintenance on and off, with a little traffic in between. */
export async function switcher({ call, ledger }: Life): Promise<never> {
  for (let on = true; ; on = !on) {
    const { status } = await call('POST /api/v1/system/maintenance', { json: { enabled: on } })
    expect(status).toBe(200)
    ledger.answers += 1
    for (let at = 0; at < 15; at += 1) await call('GET /api/v1/system/maintenance')
  }
}

/** Everything that a queue still holds, by partition, in the order of delivery. */
export async function contentOf(call: Caller, queue: string): Promise<Map<string, number[]>> {
  const found = new Map<string, number[]>()
  for (;;) {
    const reply = await call(
      `GET /api/v1/pop/queue/${queue}?batch=500&consumerGroup=check&autoAck=true`,
    )
    if (reply.status === 204) return found
    for (const { partition, data } of reply.body.messages) {
      const known = found.get(partition) ?? []
      known.push(data.n)
      found.set(partition, known)
    }
  }
}

/** Checks that the stream has counted every message of its source once, and sent each on once, in order. */
export async function checkStream(life: Life, source: string, queryId: string): Promise<void> {
  const { call, ledger } = life
  const sink = await contentOf(call, SINK)
  const { body } = await call(`GET /api/v1/resources/queues/${source}`)
  for (const { id, name } of body.partitions) {
    const numbers = sink.get(name) ?? []
    expect(numbers, `${SINK}/${name}`).toEqual(numbers.map((_, at) => at))
    const sum = numbers.reduce((all, n) => all + n, 0)
    expect(await stateOf(call, queryId, id)).toEqual({ count: numbers.length, sum })
  }
  const total = [...sink.values()].reduce((all, numbers) => all + numbers.length, 0)
  // A push whose answer was lost may be stored as well.
  expect(total).toBeGreaterThanOrEqual(setOf(ledger.pushed, source).size)
}
