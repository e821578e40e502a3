import { describe } from 'vitest'
import { PostgresStores } from '../support/queue-store-postgres.ts'
import { bufferContract } from './store-contract/buffer.ts'

describe('the PostgreSQL store', () => {
  bufferContract(new PostgresStores().openTestStore)
})
