import { describe } from 'vitest'
import { PostgresStores } from '../support/queue-store-postgres.ts'
import { streamContract } from './store-contract/streams.ts'

describe('the PostgreSQL store', () => {
  streamContract(new PostgresStores().openTestStore)
})
