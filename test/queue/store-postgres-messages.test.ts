import { describe } from 'vitest'
import { PostgresStores } from '../support/queue-store-postgres.ts'
import { messageContract } from './store-contract/messages.ts'

describe('the PostgreSQL store', () => {
  messageContract(new PostgresStores().openTestStore)
})
