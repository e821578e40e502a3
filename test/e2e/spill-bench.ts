import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeEach, expect, onTestFinished } from 'vitest'
import { type Caller, startTestBroker, type TestBroker } from '../support/broker.ts'
import { type OwnCluster, ownCluster } from '../support/postgres/own-cluster.ts'
import type { TestDatabase } from '../support/postgres.ts'
import { until } from '../support/traffic.ts'

const LIMIT_MS = 150_000

let cluster: OwnCluster
let database: TestDatabase
let spill: string

/** Gives the test file a server of its own to break, and every test a database and a folder for the spill. */
export function useSpill(): void {
  cluster = ownCluster('shared_buffers = 32MB\n')
  beforeEach(async () => {
    database = await cluster.createDatabase()
    spill = await mkdtemp(join(tmpdir(), 'hivegate-spill-'))
    onTestFinished(() => rm(spill, { recursive: true, force: true }))
  })
}

/** Path of a file in the spill of this test, or of its folder. */
export const spillPath = (name = ''): string => join(spill, name)
/** Runs a statement on the database of this test. */
export const query = (sql: string) => database.query(sql)

/** The environment of a broker of this test. */
export const settings = () => ({ DATABASE_URL: database.url, OUTAGE_SPILL_DIR: spill })

/** Starts a broker for this test. */
export async function open(env: Readonly<Record<string, string>> = {}): Promise<TestBroker> {
  const broker = await startTestBroker({ ...settings(), ...env })
  onTestFinished(() => broker.stop())
  return broker
}

/** The server's own crash, and its start. */
export const stopServer = () => cluster.crash()
export const startServer = () => cluster.start()

/** One item of a push; the queue is `q` when it names none. */
export interface Item {
  readonly queue?: string
  readonly partition?: string
  readonly payload?: unknown
  readonly transactionId?: string
}

/** One entry of the answer to a push. */
export interface Entry {
  readonly status: string
  readonly transaction_id: string
  readonly message_id: string
}

/** Pushes, which has to be answered 201. */
export async function push(call: Caller, items: readonly Item[]): Promise<readonly Entry[]> {
  const json = { items: items.map((item) => ({ queue: 'q', payload: null, ...item })) }
  const { status, body } = await call('POST /api/v1/push', { json })
  expect([status, body]).toEqual([201, expect.any(Array)])
  return body
}

export const statuses = (entries: readonly Entry[]) => entries.map(({ status }) => status)

/** Items whose transaction ids are numbers. */
export const numbered = (from: number, count: number, partition = 'Default') =>
  Array.from({ length: count }, (_, at) => ({
    ...{ partition, payload: from + at, transactionId: `${partition}-${from + at}` },
  }))

/** A figure of the scrape; undefined when it is not there. */
export async function figure(
  { call }: { call: Caller },
  name: string,
): Promise<number | undefined> {
  const { body } = await call('GET /metrics/prometheus')
  const found = new RegExp(`^${name} ([0-9]+)$`, 'm').exec(String(body))
  return found === null ? undefined : Number(found[1])
}

/** Waits for what has to come, however slow the machine is. */
export function eventually<T>(read: () => Promise<T>, holds: (value: T) => boolean): Promise<T> {
  return until(read, holds, LIMIT_MS)
}

/** Resolves when nothing waits any more. */
export const replayed = (broker: { call: Caller }) =>
  eventually(
    () => figure(broker, 'queen_file_buffer_pending'),
    (left) => left === 0,
  )

interface StoredRow {
  readonly id: string
  readonly transaction_id: string
  readonly payload: string
}

/** What a partition holds, in order. */
export async function stored(partition = 'Default', queue = 'q'): Promise<readonly StoredRow[]> {
  const rows = await database.query(
    `SELECT m.id, m.transaction_id, m.payload FROM hivegate.message m
       JOIN hivegate.partition p ON p.id = m.partition_id JOIN hivegate.queue q ON q.id = p.queue_id
     WHERE q.name = $1 AND p.name = $2 ORDER BY m.position`,
    [queue, partition],
  )
  // The columns are those of the statement.
  return rows as unknown as StoredRow[]
}

/** The transaction ids that a partition holds, in order. */
export const ids = async (partition?: string) =>
  (await stored(partition)).map(({ transaction_id }) => transaction_id)

/** What is in the file of what was set aside. */
export async function refused() {
  const text = await readFile(spillPath('refused.jsonl'), 'utf8')
  return text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))
}

/** What a broker logged of what it set aside. */
export const setAside = ({ lines }: TestBroker) =>
  lines.map((line) => JSON.parse(line)).filter(({ msg }) => /set aside/.test(msg))
