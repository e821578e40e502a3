import { describe } from 'vitest'
import { ackContract } from '../queue/store-contract/ack.ts'
import { listingContract } from '../queue/store-contract/listings.ts'
import { popContract } from '../queue/store-contract/pop.ts'
import { pushContract } from '../queue/store-contract/push.ts'
import { transactionContract } from '../queue/store-contract/transaction.ts'
import { throughPooler } from '../support/postgres/pooler.ts'
import { PostgresStores } from '../support/queue-store-postgres.ts'

// The rest of the contract stands in queue-upkeep.test.ts, so that the two run side by side.
describe('the queue through a pooler in transaction mode', () => {
  const { factory } = new PostgresStores(throughPooler())
  pushContract(factory)
  popContract(factory)
  ackContract(factory)
  transactionContract(factory)
  listingContract(factory)
})
