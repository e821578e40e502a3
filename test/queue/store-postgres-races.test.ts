import { beforeEach, describe, expect, test } from 'vitest'
import type { QueueStore, WriteKind, WriteOp, Writes } from '../../src/queue/store.ts'
import { postgresQueueStore } from '../../src/queue/stores/postgres/index.ts'
import { PostgresStores } from '../support/queue-store-postgres.ts'

const START_US = 1_800_000_000_000_000
const PARTITIONS = ['a', 'b', 'c']
const NAMES = ['z', 'm', 'a']
const ROUNDS = 40
const DAY_MS = 86_400_000
const MESSAGE_INTERVAL_US = 1000

/** Running totals beside what the rows say. */
const TOTALS = `
  SELECT 'stored' AS what, q.name AS of, s.stored AS total, (SELECT count(*)
    FROM hivegate.partition p JOIN hivegate.message m ON m.partition_id = p.id AND m.position >= p.head
    WHERE p.queue_id = q.id) AS counted
  FROM hivegate.queue q JOIN hivegate.queue_sums s ON s.queue_id = q.id
  UNION ALL
  SELECT 'passed', s.group_name, u.passed, (SELECT count(*)
    FROM hivegate.cursor c JOIN hivegate.partition p ON p.id = c.partition_id
    JOIN hivegate.message m ON m.partition_id = p.id AND m.position BETWEEN p.head AND c.position
    WHERE c.subscription_id = s.id)
  FROM hivegate.subscription s JOIN hivegate.subscription_sums u ON u.subscription_id = s.id
  UNION ALL
  SELECT 'holes', p.uuid, p.holes, p.next - p.head - (SELECT count(*) FROM hivegate.message m
    WHERE m.partition_id = p.id AND m.position >= p.head)
  FROM hivegate.partition p
  UNION ALL
  SELECT 'traces', n.name, sum(n.traces), (SELECT count(*) FROM hivegate.trace_tag g
    WHERE g.name = n.name)
  FROM hivegate.trace_name n GROUP BY n.name
  UNION ALL
  SELECT 'traced messages', n.name, sum(n.messages), (SELECT count(*)
    FROM hivegate.trace_name_message p WHERE p.name = n.name)
  FROM hivegate.trace_name n GROUP BY n.name`

/** Groups that wait for nothing although there is something for them. */
const FORGOTTEN = `SELECT c.* FROM hivegate.cursor c JOIN hivegate.partition p ON p.id = c.partition_id
  WHERE c.ready_at IS NULL AND EXISTS (SELECT FROM hivegate.message m WHERE m.partition_id = p.id
    AND m.position >= p.head AND m.position > c.position)`

const CONTENT = `SELECT p.name AS partition, m.payload FROM hivegate.message m
  JOIN hivegate.partition p ON p.id = m.partition_id ORDER BY p.id, m.position`

describe('two brokers on one PostgreSQL database', () => {
  const stores = new PostgresStores()
  let brokers: readonly QueueStore[]
  let nowUs = START_US

  beforeEach(async () => {
    await stores.empty()
    brokers = await Promise.all(
      [1, 2].map(async () => postgresQueueStore(await stores.openHost(), { encryptionKey: '' })),
    )
  })

  async function write<K extends WriteKind>(
    at: number,
    kind: K,
    args: Omit<Writes[K]['args'], 'nowUs'>,
  ): Promise<Writes[K]['result']> {
    nowUs += MESSAGE_INTERVAL_US
    const op = { kind, args: { ...args, nowUs } } as unknown as WriteOp
    const [outcome] = (await brokers[at % 2]?.commit([op])) ?? []
    if (!outcome?.ok) throw outcome?.error
    return outcome.value as Writes[K]['result']
  }

  /** Locks that were taken in a wrong order; a session counts them at its end. */
  async function deadlocks(): Promise<number> {
    await stores.closeHosts()
    const [row] = await stores.database.query(
      'SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()',
    )
    return Number(row?.['deadlocks'])
  }

  function push(at: number, partition: string, n: number) {
    const payload = JSON.stringify({ by: at, n })
    const labels = { namespace: null, task: null, traceId: null, transactionId: `${at}:${n}` }
    const item = { queue: 'q', partition, payload, ...labels }
    return write(at, 'push', { items: [item], producerSub: null })
  }

  /** Consumes for a group, one batch after the other. */
  async function consume(at: number, group: string): Promise<void> {
    for (let round = 0; round < ROUNDS; round += 1) {
      const { claims, leaseId } = await write(at, 'pop', {
        scope: { queue: 'q', partition: null },
        ...{ group, batch: 3, partitions: 1, leaseSeconds: 300, autoAck: round % 3 === 0 },
        subscription: { mode: 'all' },
      })
      const items = claims.flatMap(({ partitionId, messages }) =>
        messages.map(({ transactionId }) => {
          return { transactionId, partitionId, leaseId, status: 'completed' as const, error: null }
        }),
      )
      if (leaseId !== '' && items.length > 0) await write(at, 'ack', { group, items })
    }
  }

  /** Removes every third message that it sees, and adds events to the others. */
  async function meddle(at: number): Promise<void> {
    const all = { queue: 'q', partition: null, namespace: null, task: null, status: null }
    for (let round = 0; round < ROUNDS; round += 1) {
      const span = { fromUs: null, toUs: null, limit: 6, offset: 0, nowUs }
      const { rows } = (await brokers[at % 2]?.read('messages', { ...all, ...span })) ?? {
        rows: [],
      }
      for (const [place, { partitionId, transactionId }] of rows.entries()) {
        const address = { partitionId, transactionId }
        if (place % 3 === 2) await write(at, 'deleteMessage', address)
        else {
          const names = NAMES.slice(place % 2)
          const event = { group: 'g', names, eventType: 'e', workerId: null, data: '{}' }
          await write(at, 'addTrace', { ...address, ...event })
        }
      }
    }
  }

  async function prune(at: number): Promise<void> {
    for (let round = 0; round < ROUNDS; round += 1) {
      await write(at, 'pruneHistory', { beforeMs: START_US / 1000 + DAY_MS, limit: 3 })
    }
  }

  test('agree on totals and the ready-list, whatever is removed, consumed and traced at once', async () => {
    await push(0, 'a', 0)
    const produce = async (at: number) => {
      for (let n = 1; n <= ROUNDS; n += 1) await push(at, PARTITIONS[n % 3] ?? 'a', n)
    }
    await Promise.all([
      ...[0, 1].flatMap((at) => [produce(at), meddle(at), prune(at)]),
      ...[consume(0, 'g'), consume(1, 'g'), consume(0, 'h'), consume(1, '__QUEUE_MODE__')],
    ])
    const totals = await stores.database.query(TOTALS)
    expect(totals.length).toBeGreaterThan(PARTITIONS.length + NAMES.length)
    expect(totals.filter(({ total, counted }) => total !== counted)).toEqual([])
    expect(await stores.database.query(FORGOTTEN)).toEqual([])
    expect(await deadlocks()).toBe(0)
  })

  test('drain the buffer side by side, each message once and in the order of its sender', async () => {
    let producing = true
    const produce = async (at: number) => {
      for (let n = 0; n < 3 * ROUNDS; n += 1) await push(at, PARTITIONS[n % 3] ?? 'a', n)
    }
    const drain = async (at: number) => {
      while (producing) await write(at, 'drainBuffer', { limit: 3 })
    }
    const toggle = async () => {
      for (let round = 0; producing; round += 1) {
        await write(0, 'setFlag', { name: 'pushMaintenance', value: round % 2 === 0 })
      }
    }
    const others = [drain(0), drain(1), toggle()]
    await Promise.all([produce(0), produce(1), produce(2), produce(3)])
    producing = false
    await Promise.all(others)
    await write(0, 'setFlag', { name: 'pushMaintenance', value: false })
    while ((await write(1, 'drainBuffer', { limit: 50 })).left > 0);

    const rows = await stores.database.query(CONTENT)
    expect(rows).toHaveLength(4 * 3 * ROUNDS)
    const bySender = Map.groupBy(rows, ({ partition, payload }) => {
      return `${partition} ${JSON.parse(String(payload)).by}`
    })
    for (const [sender, sent] of bySender) {
      const numbers = sent.map(({ payload }) => Number(JSON.parse(String(payload)).n))
      expect(numbers, sender).toEqual(numbers.toSorted((a, b) => a - b))
    }
    expect(await deadlocks()).toBe(0)
  })
})
