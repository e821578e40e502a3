import { describe } from 'vitest'
import { PostgresStores } from '../support/queue-store-postgres.ts'
import { storeContract } from './store-contract/index.ts'

describe('the PostgreSQL store', () => {
  storeContract(new PostgresStores().factory)
})
