import { beforeEach, describe, expect, it } from 'vitest'
import type { PopResult, QueueStore, WriteKind, WriteOp, Writes } from '../../src/queue/store.ts'
import { postgresQueueStore } from '../../src/queue/stores/postgres/index.ts'
import { brokenFigures, deadlocks } from '../support/queue-figures.ts'
import { item, popOf } from '../support/queue-store.ts'
import { PostgresStores } from '../support/queue-store-postgres.ts'

const PARTITIONS = 12
const ROUNDS = 15
/** Time passes with every operation, so that messages grow old and leases run out on the way. */
const STEP_US = 20_000
const GROUPS = ['a', 'b', '__QUEUE_MODE__']
const TIMEOUT_MS = 120_000

const stores = new PostgresStores()
let processes: readonly QueueStore[]
let nowUs = 1_800_000_000_000_000

beforeEach(async () => {
  await stores.empty()
  const open = async () => postgresQueueStore(await stores.openHost(), { encryptionKey: '' })
  processes = [await open(), await open()]
})

async function write<K extends WriteKind>(
  store: QueueStore | undefined,
  kind: K,
  args: Omit<Writes[K]['args'], 'nowUs'>,
): Promise<Writes[K]['result']> {
  nowUs += STEP_US
  const op = { kind, args: { ...args, nowUs } } as unknown as WriteOp
  const [outcome] = (await store?.commit([op])) ?? []
  if (outcome?.ok !== true) throw outcome?.error ?? new Error('no outcome')
  return outcome.value as Writes[K]['result']
}

/** Runs work several times, one after the other, on one process. */
function worker(at: number, rounds: number, work: (store: QueueStore, round: number) => unknown) {
  const store = processes[at % processes.length]
  return (async () => {
    for (let round = 0; round < rounds; round += 1) await work(store as QueueStore, round)
  })()
}

let sent = 0

async function produce(store: QueueStore, round: number): Promise<void> {
  const items = Array.from({ length: 9 }, (_, at) => {
    sent += 1
    return item('q', sent, { partition: `p${(round + at * 5) % PARTITIONS}` })
  })
  await write(store, 'push', { items, producerSub: null })
}

/** Pops and acks; the messages of each partition must come in their order. */
async function consume(store: QueueStore, group: string, autoAck: boolean): Promise<PopResult> {
  const popped = await write(
    store,
    'pop',
    popOf('q', { group, autoAck, partitions: 4, batch: 20, leaseSeconds: 3 }),
  )
  for (const { messages } of popped.claims) {
    const numbers = messages.map(({ createdAtUs }) => createdAtUs)
    expect(numbers).toEqual(numbers.toSorted((a, b) => a - b))
  }
  if (autoAck) return popped
  const items = popped.claims.flatMap(({ partitionId, messages }) =>
    messages.map(({ transactionId }, at) => ({
      ...{ transactionId, partitionId, error: null, leaseId: popped.leaseId },
      status: at % 7 === 6 ? ('failed' as const) : ('completed' as const),
    })),
  )
  if (items.length > 0) await write(store, 'ack', { group, items })
  return popped
}

/** One step of a stream from the queue into itself. */
async function cycle(store: QueueStore, queryId: string): Promise<void> {
  const group = 'stream'
  const popped = await write(store, 'pop', popOf('q', { group, partitions: 1, batch: 5 }))
  const [claim] = popped.claims
  const last = claim?.messages.at(-1)
  if (claim === undefined || last === undefined) return
  const { leaseId } = popped
  const ack = { transactionId: last.transactionId, leaseId, status: 'completed' as const, count: 5 }
  const pushItems = [1, 2].map((n) =>
    item('q', n, { partition: `p${(last.createdAtUs + n) % PARTITIONS}` }),
  )
  await write(store, 'cycle', {
    ...{ queryId, partitionId: claim.partitionId, group, pushItems, ack, releaseLease: true },
    stateOps: ['x', 'y'].map((key) => ({ type: 'upsert' as const, key, value: '1' })),
    producerSub: null,
  })
}

/** Files the first message of a partition by hand, and puts the newest dead letter back. */
async function refile(store: QueueStore, group: string): Promise<void> {
  const [head] = await stores.database.query(
    `SELECT p.uuid, m.transaction_id FROM hivegate.partition p JOIN hivegate.message m
       ON m.partition_id = p.id AND m.position >= p.head ORDER BY random() LIMIT 1`,
  )
  const address = {
    partitionId: String(head?.['uuid']),
    transactionId: String(head?.['transaction_id']),
  }
  await write(store, 'moveToDlq', { ...address, group, error: null })
  const [row] = await stores.database.query(
    'SELECT uuid FROM hivegate.dead_letter ORDER BY random() LIMIT 1',
  )
  const by = { dlqId: String(row?.['uuid']) }
  await write(store, 'replayDlq', { by, queue: null, partition: null })
}

const everything = { queue: 'q', partition: null, after: null, limit: 1000 }

/** What is left for a group, read to the end. */
async function drain(group: string): Promise<number> {
  let got = 0
  for (;;) {
    const popped = await write(
      processes[0],
      'pop',
      popOf('q', { group, autoAck: true, partitions: 0 }),
    )
    got += popped.claims.reduce((sum, { messages }) => sum + messages.length, 0)
    if (popped.claims.length === 0 && !popped.unfinished) return got
  }
}

async function lagOf(group: string): Promise<number> {
  const [row] = await stores.database.query(
    `SELECT count(*)::int AS n FROM hivegate.subscription s
     JOIN hivegate.cursor c ON c.subscription_id = s.id
     JOIN hivegate.partition p ON p.id = c.partition_id
     JOIN hivegate.message m ON m.partition_id = p.id AND m.position >= p.head
       AND m.position > c.position
     WHERE s.group_name = $1`,
    [group],
  )
  return Number(row?.['n'])
}

describe('operators and jobs at work during pushes, pops and acks of two processes', () => {
  it('nothing deadlocks, nothing is lost, every figure stays right', {
    timeout: TIMEOUT_MS,
  }, async () => {
    const options = { retentionEnabled: true, retentionSeconds: 1, completedRetentionSeconds: 1 }
    const labels = { queue: 'q', namespace: null, task: null }
    await write(processes[0], 'configure', {
      ...labels,
      options: { ...options, retryLimit: 0, dedupWindowSeconds: 2 },
      mode: 'merge',
    })
    const query = { name: 's', sourceQueue: 'q', sinkQueue: 'q', configHash: 'h', reset: false }
    const { queryId } = await write(processes[0], 'registerQuery', query)
    const jobs = [
      'retention',
      'completedRetention',
      'eviction',
      'purge',
      'partitionCleanup',
    ] as const
    await Promise.all([
      worker(0, ROUNDS, produce),
      worker(1, ROUNDS, produce),
      ...GROUPS.flatMap((group, at) => [
        worker(at, ROUNDS, (store) => consume(store, group, false)),
        worker(at + 1, ROUNDS, (store) => consume(store, group, true)),
      ]),
      worker(0, ROUNDS, (store, round) =>
        write(store, 'seek', {
          ...{ ...everything, group: GROUPS[round % 3] ?? 'a' },
          target: round % 2 === 0 ? { to: 'end' } : { to: 'time', atUs: 0 },
        }),
      ),
      ...[0, 1, 0].map((at) => worker(at, ROUNDS, (store) => cycle(store, queryId))),
      worker(1, ROUNDS, (store, round) => refile(store, GROUPS[round % 3] ?? 'a')),
      worker(1, 5, (store) => write(store, 'clearQueue', everything)),
      worker(0, 5, (store, round) =>
        write(store, 'deleteGroup', { group: 'b', queue: null, deleteMetadata: round % 2 === 0 }),
      ),
      worker(1, 5, (store) => write(store, 'updateSubscription', { group: 'a', startAtUs: 0 })),
      worker(1, 5, (store) => write(store, 'deleteDlq', { queue: 'q', group: null })),
      ...jobs.map((job, at) =>
        worker(at, ROUNDS, (store) =>
          write(store, 'jobStep', { job, after: null, limit: 40, idleUs: 500_000 }),
        ),
      ),
    ])
    expect(await brokenFigures(stores.database)).toEqual({})
    expect(await deadlocks(stores.database)).toBe(0)
    nowUs += 400 * 1_000_000 // every lease has run out
    for (const group of GROUPS) {
      // The group may have been deleted last of all.
      await write(processes[1], 'pop', popOf('q', { group, batch: 1, leaseSeconds: 1 }))
      nowUs += 2_000_000
      const left = await lagOf(group)
      expect(await drain(group)).toBe(left)
      expect(await lagOf(group)).toBe(0)
    }
    expect(await brokenFigures(stores.database)).toEqual({})
  })
})
