import { describe } from 'vitest'
import { PostgresStores } from '../support/queue-store-postgres.ts'
import { historyContract } from './store-contract/history.ts'

describe('the PostgreSQL store', () => {
  historyContract(new PostgresStores().openTestStore)
})
