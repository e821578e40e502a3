import { describe } from 'vitest'
import { PostgresStores } from '../support/queue-store-postgres.ts'
import { adminContract } from './store-contract/admin.ts'
import { upkeepContract } from './store-contract/upkeep.ts'

describe('the PostgreSQL store', () => {
  const stores = new PostgresStores()
  adminContract(stores.factory)
  upkeepContract(stores.factory)
})
