import { beforeEach, describe, expect, test } from 'vitest'
import { createQueueEngine, type QueueEngine } from '../../src/queue/engine/index.ts'
import type {
  Claim,
  PushItem,
  QueueStore,
  WriteKind,
  WriteOp,
  Writes,
} from '../../src/queue/store.ts'
import { postgresQueueStore } from '../../src/queue/stores/postgres/index.ts'
import { PostgresStores } from '../support/queue-store-postgres.ts'

const GROUPS = ['__QUEUE_MODE__', 'g']
const QUEUES = ['a', 'b']
const PARTITIONS = 6
const PUSHES = 40
const CALLERS = 6

type Args<K extends WriteKind> = Omit<Writes[K]['args'], 'nowUs'>

async function write<K extends WriteKind>(
  store: QueueStore,
  kind: K,
  args: Args<K>,
): Promise<Writes[K]['result']> {
  const op = { kind, args: { ...args, nowUs: Date.now() * 1000 } } as unknown as WriteOp
  const [outcome] = await store.commit([op])
  if (outcome === undefined || !outcome.ok) throw outcome?.error ?? new Error('no outcome')
  return outcome.value as Writes[K]['result']
}

function item(queue: string, partition: string, payload: unknown): PushItem {
  const none = { transactionId: null, traceId: null, namespace: null, task: null }
  return { queue, partition, payload: JSON.stringify(payload), ...none }
}

/** What all callers together have seen. */
class Ledger {
  pushed = 0
  /** Messages that some caller has under a lease and has not begun to ack, by group. */
  readonly #held = new Set<string>()
  /** The last one consumed of each (partition, group). */
  readonly #last = new Map<string, number>()
  readonly consumed = new Map(GROUPS.map((group) => [group, new Set<string>()]))

  take(group: string, claim: Claim): void {
    for (const { id } of claim.messages) {
      expect(this.#held.has(`${group} ${id}`), 'delivered twice under a lease').toBe(false)
      this.#held.add(`${group} ${id}`)
    }
  }

  /** From now on the message may be delivered again. */
  give(group: string, claim: Claim): void {
    for (const { id } of claim.messages) this.#held.delete(`${group} ${id}`)
  }

  consume(group: string, claim: Claim): void {
    for (const { id, createdAtUs } of claim.messages) {
      const key = `${group} ${claim.partitionId}`
      expect(this.#last.get(key) ?? 0, 'order in the partition').toBeLessThan(createdAtUs)
      this.#last.set(key, createdAtUs)
      this.consumed.get(group)?.add(id)
    }
  }

  get done(): boolean {
    return [...this.consumed.values()].every(({ size }) => size === this.pushed)
  }
}

async function produce(store: QueueStore, caller: number, ledger: Ledger): Promise<void> {
  for (let i = 0; i < PUSHES; i += 1) {
    const items = Array.from({ length: 1 + (i % 3) }, (_, k) => {
      return item(QUEUES[(i + k) % 2]!, `p${(caller + i * 5 + k) % PARTITIONS}`, [caller, i, k])
    })
    const results = await write(store, 'push', { items, producerSub: null })
    expect(results.every(({ status }) => status === 'queued')).toBe(true)
    ledger.pushed += items.length
  }
}

interface Consuming {
  readonly store: QueueStore
  readonly group: string
  readonly ledger: Ledger
  readonly producing: () => boolean
}

/** Takes a claim apart in one of the ways that clients do. */
async function settle(
  { store, group, ledger }: Consuming,
  claim: Claim,
  leaseId: string,
  n: number,
) {
  const { partitionId, messages } = claim
  const acks = messages.map(({ transactionId }) => {
    return { transactionId, partitionId, status: 'completed' as const, error: null, leaseId }
  })
  ledger.give(group, claim)
  if (n % 7 === 3) {
    const [first] = acks
    await write(store, 'ack', { group, items: [{ ...first!, status: 'retry' }] })
    return
  }
  ledger.consume(group, claim)
  if (n % 7 === 5) {
    const operations = acks.map((ack) => ({ type: 'ack' as const, group, item: ack }))
    const push = { type: 'push' as const, item: item('sink', 'Default', n) }
    const args = { operations: [...operations, push], requiredLeases: [], producerSub: null }
    expect(await write(store, 'transaction', args)).toMatchObject({ success: true })
    return
  }
  const results = await write(store, 'ack', { group, items: acks })
  expect(results.map(({ error }) => error)).toEqual(acks.map(() => null))
}

async function consume(work: Consuming): Promise<void> {
  const { store, group, ledger, producing } = work
  for (let n = 0; producing() || !ledger.done; n += 1) {
    const { claims, leaseId } = await write(store, 'pop', {
      scope: { queue: QUEUES[n % 2]!, partition: null },
      ...{ group, batch: 4, partitions: 2, leaseSeconds: 60, autoAck: false },
      subscription: { mode: 'all' },
    })
    for (const claim of claims) ledger.take(group, claim)
    for (const claim of claims) await settle(work, claim, leaseId, n)
  }
}

describe('two brokers on one database', () => {
  const stores = new PostgresStores()
  let brokers: readonly QueueStore[] = []

  beforeEach(async () => {
    await stores.empty()
    const hosts = [await stores.openHost(), await stores.openHost()]
    brokers = hosts.map((host) => postgresQueueStore(host, { encryptionKey: '' }))
  })

  test('lose nothing, double nothing and keep the order while all push, pop and ack at once', {
    timeout: 120_000,
  }, async () => {
    const ledger = new Ledger()
    let producing = true
    const producers = Array.from({ length: CALLERS }, (_, caller) =>
      produce(brokers[caller % 2]!, caller, ledger),
    )
    const consumers = Array.from({ length: CALLERS }, (_, caller) => {
      const group = GROUPS[(caller >> 1) % 2]!
      const store = brokers[caller % 2]!
      return consume({ store, group, ledger, producing: () => producing })
    })
    await Promise.all(producers)
    producing = false
    await Promise.all(consumers)
    const [sums] = await stores.database.query(
      `SELECT sum(t.stored) AS stored, (SELECT count(*) FROM hivegate.message m JOIN hivegate.partition p
         ON p.id = m.partition_id JOIN hivegate.queue q ON q.id = p.queue_id AND q.name <> 'sink') AS rows
       FROM hivegate.queue_sums t JOIN hivegate.queue q ON q.id = t.queue_id WHERE q.name <> 'sink'`,
    )
    expect(Number(sums?.['stored'])).toBe(ledger.pushed)
    expect(Number(sums?.['rows'])).toBe(ledger.pushed)
    const passed = await stores.database.query(
      `SELECT s.group_name, sum(t.passed)::int AS passed, sum(t.consumed)::int AS consumed,
         sum(t.members)::int AS members
       FROM hivegate.subscription s JOIN hivegate.subscription_sums t ON t.subscription_id = s.id
       GROUP BY s.group_name ORDER BY 1`,
    )
    const members = PARTITIONS * QUEUES.length
    expect(passed).toEqual(
      GROUPS.map((group) => ({
        group_name: group,
        passed: ledger.pushed,
        consumed: ledger.pushed,
        members,
      })),
    )
    const [clashes] = await stores.database.query(
      'SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()',
    )
    expect(Number(clashes?.['deadlocks'])).toBe(0)
  })

  test('answer a faulty push of a batch alone, also when it is the database that refuses it', async () => {
    const push = (payload: string) => {
      const items = [{ ...item('a', 'p', 0), payload }]
      return { kind: 'push', args: { items, producerSub: null, nowUs: Date.now() * 1000 } } as const
    }
    const [broker] = brokers
    const outcomes = await broker!.commit([push('1'), push('"\0"'), push('3')])
    expect(outcomes.map(({ ok }) => ok)).toEqual([true, false, true])
    const rows = await stores.database.query(
      'SELECT payload FROM hivegate.message ORDER BY position',
    )
    expect(rows.map(({ payload }) => payload)).toEqual(['1', '3'])
  })

  test('make a queue, its partitions and its groups once, however many come first', async () => {
    const partitions = Array.from({ length: 5 }, (_, i) => `p${i}`)
    const pushes = Array.from({ length: 12 }, (_, i) => {
      const names = i % 2 === 0 ? partitions : partitions.toReversed()
      const items = names.map((name) => ({ ...item('new', name, i), transactionId: 't' }))
      return write(brokers[i % 2]!, 'push', { items, producerSub: null })
    })
    const pops = Array.from({ length: 12 }, (_, i) =>
      write(brokers[i % 2]!, 'pop', {
        scope: { queue: 'new', partition: null },
        ...{ group: `g${i % 3}`, batch: 100, partitions: 0, leaseSeconds: null, autoAck: true },
        subscription: { mode: 'all' },
      }),
    )
    const results = (await Promise.all(pushes)).flat()
    await Promise.all(pops)
    expect(results.filter(({ status }) => status === 'queued')).toHaveLength(partitions.length)
    expect(new Set(results.map(({ partitionId }) => partitionId)).size).toBe(partitions.length)
    for (const group of ['g0', 'g1', 'g2']) {
      const seek = { group, queue: 'new', partition: null, after: null, limit: 100 }
      const moved = await write(brokers[0]!, 'seek', { ...seek, target: { to: 'time', atUs: 0 } })
      expect(moved.updated).toBe(partitions.length)
    }
  })
})

describe('a pop that waits on one broker', () => {
  const stores = new PostgresStores()
  const config = { defaultSubscriptionMode: '', retentionBatchSize: 100, partitionCleanupDays: 30 }
  const request = {
    scope: { queue: 'q', partition: null },
    ...{ group: 'g', batch: 1, partitions: 1, leaseSeconds: null, autoAck: true },
    ...{ subscriptionMode: null, subscriptionFrom: null, waitMs: 20_000 },
  }

  async function engine(options: { listenTarget?: null } = {}): Promise<QueueEngine> {
    const host = await stores.openHost(options)
    return createQueueEngine({ store: postgresQueueStore(host, { encryptionKey: '' }), config })
  }

  /** Answers how long a waiting pop needed from the answer of the push, in ms. */
  async function wait(here: QueueEngine, there: QueueEngine): Promise<number> {
    const popped = here.pop(request)
    await expect.poll(() => here.counters().parked).toBe(1)
    // Its first try has found nothing.
    await here.read('depth', { queue: 'q', group: 'g' })
    await there.push([item('q', 'p', 1)], null)
    const from = performance.now()
    expect((await popped)?.claims).toHaveLength(1)
    return performance.now() - from
  }

  beforeEach(() => stores.empty())

  test('is woken by a push on another one', async () => {
    const [here, there] = [await engine(), await engine()]
    await there.push([item('q', 'p', 0)], null)
    await here.pop({ ...request, waitMs: 0 })
    const spent = await wait(here, there)
    expect(spent).toBeLessThan(900)
    await here.close()
    await there.close()
  })

  test('looks again by itself about once a second when nothing is heard', async () => {
    const [here, there] = [await engine({ listenTarget: null }), await engine()]
    await there.push([item('q', 'p', 0)], null)
    await here.pop({ ...request, waitMs: 0 })
    expect(await wait(here, there)).toBeLessThan(5000)
    await here.close()
    await there.close()
  })

  test('is answered with nothing when another broker pauses pops, and both obey', async () => {
    const [here, there] = [await engine(), await engine()]
    const popped = here.pop(request)
    await expect.poll(() => here.counters().parked).toBe(1)
    await there.setFlag('popMaintenance', true)
    expect(await popped).toBeNull()
    expect(await here.pop(request)).toBeNull()
    await there.setFlag('popMaintenance', false)
    await there.push([item('q', 'p', 1)], null)
    await expect.poll(() => here.pop({ ...request, waitMs: 0 }), { timeout: 5000 }).not.toBeNull()
    await here.close()
    await there.close()
  })
})
