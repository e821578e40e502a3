import { describe } from 'vitest'
import { PostgresStores } from '../support/queue-store-postgres.ts'
import { traceContract } from './store-contract/traces.ts'

describe('the PostgreSQL store', () => {
  traceContract(new PostgresStores().openTestStore)
})
