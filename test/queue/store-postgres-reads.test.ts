import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { QueueStore, WriteOp } from '../../src/queue/store.ts'
import { postgresQueueModule, postgresQueueStore } from '../../src/queue/stores/postgres/index.ts'
import { sqliteQueueModule, sqliteQueueStore } from '../../src/queue/stores/sqlite/index.ts'
import { openInlineHost, type PgHost } from '../../src/storage/index.ts'
import { openTestHost } from '../support/postgres.ts'
import { Driver } from './store-model/driver.ts'
import { anyStep } from './store-model/steps.ts'
import { copyStore } from './store-reads/copy.ts'
import { questionsAbout, type Things, thingsIn } from './store-reads/questions.ts'

const encryptionKey = '5a'.repeat(32)
const STEPS = 250
const DAY_MS = 86_400_000

/** Traces of most messages, some of them twice, and then the removal of some messages. */
async function disturb(store: QueueStore, { messages, nowUs }: Things): Promise<void> {
  const traces = messages.flatMap(([partitionId, transactionId], at): WriteOp[] => {
    const names = [`n${at % 3}`, 'all', ...(at % 4 === 0 ? ['few'] : [])]
    const event = { group: 'g', names, eventType: 'info', workerId: null, data: `{"at":${at}}` }
    const args = { partitionId, transactionId, nowUs: nowUs + at * 1000, ...event }
    const op: WriteOp = { kind: 'addTrace', args }
    return at % 2 === 0 ? [op, op] : [op]
  })
  const removed = messages.flatMap(([partitionId, transactionId], at): WriteOp[] =>
    at % 5 < 2 ? [{ kind: 'deleteMessage', args: { partitionId, transactionId, nowUs } }] : [],
  )
  for (const op of [...traces, ...removed]) {
    const [outcome] = await store.commit([op])
    if (!outcome?.ok) throw outcome?.error
  }
}

/** The ids of traces are made by each store for itself. */
function withoutTraceIds(answer: unknown): unknown {
  return JSON.parse(
    JSON.stringify(
      answer instanceof Map ? [...answer].sort() : answer,
      function traceless(this: object, key, value) {
        return key === 'id' && 'eventType' in this ? undefined : value
      },
    ),
  )
}

async function expectSameAnswers(
  store: QueueStore,
  expected: QueueStore,
  things: Things,
): Promise<void> {
  for (const { kind, args } of questionsAbout(things)) {
    const answer = withoutTraceIds(await store.read(kind, args as never))
    const right = withoutTraceIds(await expected.read(kind, args as never))
    expect(answer, JSON.stringify([kind, args])).toEqual(right)
  }
}

const CURSORS = `partition_id, subscription_id, position, lease_id, lease_until, lease_end, lease_left,
  retry_count, ready_at`

async function expectSameCursors(host: PgHost, file: string): Promise<void> {
  const order = 'ORDER BY partition_id, subscription_id'
  const rows = await host.rows('cursors', `SELECT ${CURSORS} FROM hivegate.cursor ${order}`)
  const db = new DatabaseSync(file, { readOnly: true })
  const right = db.prepare(`SELECT ${CURSORS} FROM cursor ${order}`).all()
  db.close()
  expect(rows).toEqual(right.map((row) => ({ ...row })))
}

describe('a copy of an embedded store in PostgreSQL', () => {
  let dataDir: string
  beforeAll(() => {
    dataDir = mkdtempSync(join(tmpdir(), 'hivegate-reads-'))
  })
  afterAll(() => rmSync(dataDir, { recursive: true, force: true }))

  test.each([1, 2, 3])(
    'answers the same, also after traces, removals and pruning, with the random steps of seed %i',
    { timeout: 180_000 },
    async (seed) => {
      const file = join(dataDir, `${seed}.db`)
      const embedded = await openInlineHost([sqliteQueueModule({ encryptionKey })], file)
      const { host, drop } = await openTestHost([postgresQueueModule])
      try {
        const expected = sqliteQueueStore(embedded)
        const driver = new Driver(expected)
        await driver.play(fc.sample(anyStep, { seed, numRuns: STEPS }))
        await copyStore(file, host)
        const store = postgresQueueStore(host, { encryptionKey })
        const things = await thingsIn(expected, driver.nowUs + 500_000)
        await expectSameAnswers(store, expected, things)

        for (const one of [store, expected]) await disturb(one, things)
        const traced = { ...(await thingsIn(expected, things.nowUs)), messages: things.messages }
        await expectSameAnswers(store, expected, traced)
        await expectSameCursors(host, file)

        const beforeMs = things.nowUs / 1000 + DAY_MS
        for (const limit of [7, 10, 1000]) {
          const prune: WriteOp = { kind: 'pruneHistory', args: { beforeMs, limit } }
          const [pruned] = await store.commit([prune])
          expect(pruned).toEqual((await expected.commit([prune]))[0])
          await expectSameAnswers(store, expected, traced)
        }
      } finally {
        await embedded.close()
        await drop()
      }
    },
  )
})
