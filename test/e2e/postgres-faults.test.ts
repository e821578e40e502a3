import { afterAll, beforeAll, expect, it } from 'vitest'
import { ownCluster } from '../support/postgres/own-cluster.ts'
import type { TestDatabase } from '../support/postgres.ts'
import { until } from '../support/traffic.ts'
import { consumer, Ledger, type Life, mover, pusher, setOf } from './kill-workers.ts'
import { Brokers, LoadOver, widePusher } from './postgres-load.ts'

const ROUNDS = 20
/** Answers between two faults; drawn anew each time, so that a fault meets every kind of work. */
const LEAST_ANSWERS = 20
const MOST_ANSWERS = 80
const ONE_PUSH = { json: { items: [{ queue: 'probe', payload: 1, transactionId: 'probe' }] } }

const cluster = ownCluster('shared_buffers = 32MB\n')
let database: TestDatabase
let brokers: Brokers
beforeAll(async () => {
  database = await cluster.createDatabase()
  const { url: DATABASE_URL } = database
  // Processes that start again and again read the compiled program.
  const NODE_COMPILE_CACHE = `${cluster.address.folder}/node`
  brokers = new Brokers({ DATABASE_URL, NODE_COMPILE_CACHE, DATABASE_POOL_SIZE: '6' })
  await Promise.all([brokers.start(), brokers.start()])
})
afterAll(() => brokers.killAll())

const healthy = () =>
  until(
    () => brokers.health(),
    (replies) => replies.every(({ status }) => status === 200),
  )

/** The server crashes; while it is away everybody says so, and the brokers stay. */
async function serverCrash(): Promise<void> {
  await cluster.crash()
  for (const { status, body } of await brokers.health()) {
    expect([status, body.status, body.database]).toEqual([503, 'unhealthy', 'disconnected'])
  }
  for (const { status, headers } of await brokers.each('POST /api/v1/push', ONE_PUSH)) {
    expect([status, headers.get('retry-after')]).toEqual([503, '1'])
  }
  await cluster.start()
  await healthy()
}

const TERMINATE = `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
  WHERE application_name LIKE 'hivegate%' AND datname = current_database()`

/** Every connection of the brokers is cut. */
async function connectionsCut(): Promise<void> {
  const cut = await database.query(TERMINATE)
  expect(cut.length).toBeGreaterThan(0)
  await healthy()
}

/** One broker dies, the other goes on alone for a while. */
async function brokerKilled(): Promise<void> {
  await brokers.kill()
  await brokers.answers(LEAST_ANSWERS)
  await brokers.start()
}

/** A broker takes the longest to come back, so fewer of them die. */
const FAULTS = [serverCrash, connectionsCut, brokerKilled, connectionsCut]

const workers: readonly ((life: Life) => Promise<unknown>)[] = [
  ...['p0', 'p1', 'p2'].map((partition) => pusher('plain', partition)),
  widePusher('plain'),
  pusher('in', 'p0'),
  pusher('in', 'p1'),
  (life) => consumer(life, 'plain'),
  (life) => consumer(life, 'plain'),
  (life) => mover(life, 'in', 'out'),
]

/** Works until the load is over; what else ends a worker fails the test. */
async function untilOver(worker: (life: Life) => Promise<unknown>, life: Life): Promise<void> {
  await worker(life).catch((error: unknown) => {
    if (!(error instanceof LoadOver)) throw error
  })
}

async function strike(): Promise<void> {
  for (let round = 0; round < ROUNDS; round += 1) {
    await brokers.answers(LEAST_ANSWERS + Math.random() * (MOST_ANSWERS - LEAST_ANSWERS))
    await FAULTS[round % FAULTS.length]?.()
  }
  await brokers.answers(MOST_ANSWERS)
  brokers.endLoad()
}

/** The numbers of every partition in the order in which they are stored. */
const STORED = `SELECT q.name AS queue, p.name AS partition,
    array_agg((m.payload::json ->> 'n')::int ORDER BY m.position) AS numbers,
    array_agg(m.id ORDER BY m.position) = array_agg(m.id ORDER BY m.id COLLATE "C") AS rising
  FROM hivegate.message m
    JOIN hivegate.partition p ON p.id = m.partition_id
    JOIN hivegate.queue q ON q.id = p.queue_id
  WHERE q.name <> 'probe' GROUP BY 1, 2`

interface Stored {
  readonly queue: string
  readonly partition: string
  readonly numbers: readonly number[]
  readonly rising: boolean
}

async function stored(): Promise<readonly Stored[]> {
  // The columns are those of the statement.
  return (await database.query(STORED)) as unknown as Stored[]
}

/** `partition-number`, the transaction id, of all that is stored of a queue. */
function idsOf(partitions: readonly Stored[], queue: string): readonly string[] {
  return partitions
    .filter((one) => one.queue === queue)
    .flatMap(({ partition, numbers }) => numbers.map((n) => `${partition}-${n}`))
}

it('20 faults under load lose, double and reorder nothing that was answered', async () => {
  const ledger = new Ledger()
  const life = { call: brokers.call, ledger }
  await Promise.all([strike(), ...workers.map((worker) => untilOver(worker, life))])

  // Every number that was answered is there once, at its place, and nothing else is.
  const partitions = await stored()
  for (const { queue, partition, numbers, rising } of partitions) {
    expect([queue, partition, rising]).toEqual([queue, partition, true])
    expect(numbers).toEqual(numbers.map((_, at) => at))
  }
  for (const queue of ['plain', 'in']) {
    expect(new Set(idsOf(partitions, queue))).toEqual(setOf(ledger.pushed, queue))
  }

  // What is left comes in order, and nothing that was completed comes again; the ledger checks both.
  brokers.reopen()
  const last = { ...life, batch: 200 }
  const drained = async (queue: string, work: () => Promise<void>) => {
    // Leases of lost answers run out while this waits.
    do await work()
    while ((await brokers.call(`GET /api/v1/resources/queues/${queue}/depth`)).body.depth > 0)
  }
  await drained('plain', () => consumer(last, 'plain', true))
  await drained('in', () => mover(last, 'in', 'out', true))
  await drained('out', () => consumer(last, 'out', true))
  for (const queue of ['plain', 'in']) {
    expect(setOf(ledger.delivered, queue)).toEqual(setOf(ledger.pushed, queue))
  }
  // A transaction happened in whole or not at all: what left one queue is in the other, once.
  const moved = idsOf(await stored(), 'out')
  expect(moved).toHaveLength(setOf(ledger.pushed, 'in').size)
  expect(new Set(moved)).toEqual(setOf(ledger.pushed, 'in'))
  expect(setOf(ledger.delivered, 'out')).toEqual(setOf(ledger.pushed, 'in'))
  await healthy()
  await brokers.stop()
}, 600_000)
