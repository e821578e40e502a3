import fc from 'fast-check'
import { beforeAll, describe, test } from 'vitest'
import type { QueueStore } from '../../src/queue/store.ts'
import { PostgresStores } from '../support/queue-store-postgres.ts'
import { Driver } from './store-model/driver.ts'
import { anyStep } from './store-model/steps.ts'

/** Fewer than on the embedded store: each operation is a round trip and a flush to disk. */
const RUNS = 100
const STEPS = 50

describe('the PostgreSQL store and a model of the queue API', () => {
  const stores = new PostgresStores()
  let store: QueueStore

  beforeAll(async () => {
    store = (await stores.factory('5a'.repeat(32))).store
  })

  test(`agree after any ${STEPS} operations`, { timeout: 600_000 }, async () => {
    const steps = fc.array(anyStep, { minLength: STEPS, maxLength: STEPS })
    await fc.assert(
      fc.asyncProperty(steps, (given) => new Driver(store).run(given)),
      { numRuns: RUNS },
    )
  })
})
