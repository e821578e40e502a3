import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { QueueStore, WriteOp } from '../../src/queue/store.ts'
import { postgresQueueModule, postgresQueueStore } from '../../src/queue/stores/postgres/index.ts'
import { sqliteQueueModule, sqliteQueueStore } from '../../src/queue/stores/sqlite/index.ts'
import { openInlineHost } from '../../src/storage/index.ts'
import { openTestHost } from '../support/postgres.ts'
import { Driver } from './store-model/driver.ts'
import { anyStep } from './store-model/steps.ts'
import { copyStore } from './store-reads/copy.ts'
import { questionsAbout, thingsIn } from './store-reads/questions.ts'

const encryptionKey = '5a'.repeat(32)
const STEPS = 250

/** What the model does not play: removed messages and traces. */
async function disturb(store: QueueStore, nowUs: number): Promise<void> {
  const { messages } = await thingsIn(store, nowUs)
  const traces = messages.flatMap(([partitionId, transactionId], at): WriteOp[] => {
    const names = [`n${at % 3}`, 'all', ...(at % 4 === 0 ? ['few'] : [])]
    const event = { group: 'g', names, eventType: 'info', workerId: null, data: `{"at":${at}}` }
    const args = { partitionId, transactionId, nowUs: nowUs + at, ...event }
    return [
      { kind: 'addTrace', args },
      ...(at % 2 === 0 ? [{ kind: 'addTrace', args } as const] : []),
    ]
  })
  const removed = messages.flatMap(([partitionId, transactionId], at): WriteOp[] =>
    at % 5 === 2 ? [{ kind: 'deleteMessage', args: { partitionId, transactionId, nowUs } }] : [],
  )
  await store.commit([...traces, ...removed])
}

describe('every read of the PostgreSQL store', () => {
  let dataDir: string
  beforeAll(() => {
    dataDir = mkdtempSync(join(tmpdir(), 'hivegate-reads-'))
  })
  afterAll(() => rmSync(dataDir, { recursive: true, force: true }))

  test.each([1, 2, 3])(
    'answers what the embedded store answers after the random steps of seed %i',
    { timeout: 180_000 },
    async (seed) => {
      const file = join(dataDir, `${seed}.db`)
      const embedded = await openInlineHost([sqliteQueueModule({ encryptionKey })], file)
      const { host, drop } = await openTestHost([postgresQueueModule])
      try {
        const expected = sqliteQueueStore(embedded)
        const driver = new Driver(expected)
        await driver.play(fc.sample(anyStep, { seed, numRuns: STEPS }))
        await disturb(expected, driver.nowUs)
        await copyStore(file, host)
        const store = postgresQueueStore(host, { encryptionKey })
        const things = await thingsIn(expected, driver.nowUs + 500_000)
        for (const { kind, args } of questionsAbout(things)) {
          const answer = await store.read(kind, args as never)
          expect(answer, JSON.stringify([kind, args])).toEqual(
            await expected.read(kind, args as never),
          )
        }
      } finally {
        await embedded.close()
        await drop()
      }
    },
  )
})
