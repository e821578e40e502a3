import fc from 'fast-check'
import { afterAll, beforeAll, describe, test } from 'vitest'
import type { QueueStore } from '../../src/queue/store.ts'
import { sqliteQueueModule, sqliteQueueStore } from '../../src/queue/stores/sqlite/index.ts'
import { openInlineHost, type SqliteHost } from '../../src/storage/index.ts'
import { Driver } from './store-model/driver.ts'
import { anyStep } from './store-model/steps.ts'

const RUNS = 2000
const STEPS = 50

let host: SqliteHost
let store: QueueStore

beforeAll(async () => {
  host = await openInlineHost([sqliteQueueModule({ encryptionKey: '5a'.repeat(32) })])
  store = sqliteQueueStore(host)
})

afterAll(() => host.close())

describe('the store and a model of the queue API', () => {
  test(`agree after any ${STEPS} operations`, { timeout: 600_000 }, async () => {
    const steps = fc.array(anyStep, { minLength: STEPS, maxLength: STEPS })
    await fc.assert(
      fc.asyncProperty(steps, (given) => new Driver(store).run(given)),
      { numRuns: RUNS },
    )
  })
})
