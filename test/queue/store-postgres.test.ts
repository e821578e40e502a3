import { describe } from 'vitest'
import { PostgresStores } from '../support/queue-store-postgres.ts'
import { ackContract } from './store-contract/ack.ts'
import { listingContract } from './store-contract/listings.ts'
import { popContract } from './store-contract/pop.ts'
import { pushContract } from './store-contract/push.ts'
import { transactionContract } from './store-contract/transaction.ts'

// The rest of the contract stands in store-postgres-admin.test.ts, so that the two run side by side.
describe('the PostgreSQL store', () => {
  const { factory } = new PostgresStores()
  pushContract(factory)
  popContract(factory)
  ackContract(factory)
  transactionContract(factory)
  listingContract(factory)
})
