import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type ChildBroker, startChildBroker } from '../support/child-broker.ts'
import {
  type ClientMessage,
  type ClientOptions,
  losingAnswers,
  QueueClient,
  streamPost,
} from '../support/queue-client.ts'

const GROUP = 'streams.sums'
const QUERY = { name: 'sums', source_queue: 'numbers', sink_queue: 'sums', config_hash: 'v1' }

let dataDir: string
let broker: ChildBroker
beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'hivegate-streams-'))
  broker = await startChildBroker({ DATA_DIR: dataDir })
})
afterEach(async () => {
  broker.signal('SIGKILL')
  await broker.exited
  await rm(dataDir, { recursive: true, force: true })
})

function client(): QueueClient {
  return new QueueClient({ url: broker.url })
}

function post(path: string, body: unknown, more: Partial<ClientOptions> = {}) {
  return streamPost({ url: broker.url, ...more }, `/streams/v1/${path}`, body)
}

async function crash(): Promise<void> {
  broker.signal('SIGKILL')
  await broker.exited
  broker = await startChildBroker({ DATA_DIR: dataDir })
}

function popSource(batch: number, more: object = {}) {
  return client().pop('numbers', {
    batch,
    wait: true,
    timeout: 1000,
    consumerGroup: GROUP,
    partitions: 4,
    ...more,
  })
}

async function total(queryId: string, partitionId: string): Promise<number> {
  const { rows } = await post('state/get', { query_id: queryId, partition_id: partitionId })
  return rows[0]?.value.sum ?? 0
}

/** One cycle over a batch: the running sum into the state, and into the sink. */
async function commit(
  queryId: string,
  messages: readonly ClientMessage[],
  more: Partial<ClientOptions> = {},
) {
  const last = messages.at(-1)
  if (last === undefined) throw new Error('an empty batch')
  const before = await total(queryId, last.partitionId)
  const sum = messages.reduce((all, { data }) => all + Number(data), before)
  const body = {
    query_id: queryId,
    partition_id: last.partitionId,
    consumer_group: GROUP,
    state_ops: [{ type: 'upsert', key: 'sum', value: { sum } }],
    push_items: [{ queue: 'sums', partition: 'Default', payload: sum }],
    ack: {
      transactionId: last.transactionId,
      leaseId: last.leaseId,
      status: 'completed',
      count: messages.length,
    },
    release_lease: true,
  }
  return post('cycle', body, more)
}

const NUMBERS = Array.from({ length: 20 }, (_, n) => n + 1)

describe('a stream runner', () => {
  it('goes on exactly where it was after a crash between two cycles', async () => {
    await client().push('numbers', NUMBERS)
    const first = await post('queries', QUERY)
    expect(first).toMatchObject({ success: true, fresh: true })
    const batch = await popSource(5)
    expect(await commit(first.query_id, batch)).toMatchObject({ success: true })
    // The next batch is in a lease and computed, but its cycle is never sent.
    const lost = await popSource(5, { leaseSeconds: 1 })
    expect(lost).toHaveLength(5)
    await crash()

    const again = await post('queries', { ...QUERY, reset: true })
    expect(again).toMatchObject({ query_id: first.query_id, fresh: false, reset: false })
    const partitionId = lost[0]?.partitionId ?? ''
    expect(await total(first.query_id, partitionId)).toBe(15)
    let rest = await popSource(5, { timeout: 5000 })
    // The messages whose cycle was lost come first, in order.
    expect(rest.map(({ data }) => data)).toEqual([6, 7, 8, 9, 10])
    while (rest.length > 0) {
      expect(await commit(first.query_id, rest)).toMatchObject({ success: true })
      rest = await popSource(5)
    }
    expect(await total(first.query_id, partitionId)).toBe(210)
    const sink = await client().pop('sums', { batch: 100 })
    expect(sink.map(({ data }) => data)).toEqual([15, 55, 120, 210])
    const ids = sink.map(({ id }) => id)
    expect(ids).toEqual(ids.toSorted())
  })

  it('commits nothing twice when the answer of a cycle is lost and it is sent again', async () => {
    await client().push('numbers', [1, 2, 3])
    const { query_id } = await post('queries', QUERY)
    const batch = await popSource(200)
    const reply = await commit(query_id, batch, { fetch: losingAnswers('/cycle') })
    // The runner drops a failed cycle; here all of it had been committed.
    expect(reply).toMatchObject({ success: false, error: expect.any(String) })
    expect(await total(query_id, batch[0]?.partitionId ?? '')).toBe(6)
    expect(await client().pop('sums', { batch: 10 })).toHaveLength(1)
    expect(await popSource(200, { timeout: 100 })).toEqual([])
  })

  it('registers again after a lost answer without losing its state', async () => {
    const lucky = await post('queries', QUERY, { fetch: losingAnswers('/queries') })
    expect(lucky).toMatchObject({ success: true, fresh: false, reset: false })
  })

  it('tries 408, 429 and 5xx again, four times at most, and no other 4xx', async () => {
    for (const [status, requests] of [
      [408, 4],
      [429, 4],
      [503, 4],
      [409, 1],
      [400, 1],
    ]) {
      let seen = 0
      const answer = async () => {
        seen += 1
        return Response.json({ error: 'told' }, { status: status ?? 0 })
      }
      await expect(post('cycle', {}, { fetch: answer })).rejects.toMatchObject({ status })
      expect(seen).toBe(requests)
    }
  })
})
