import { describe } from 'vitest'
import { adminContract } from '../queue/store-contract/admin.ts'
import { bufferContract } from '../queue/store-contract/buffer.ts'
import { messageContract } from '../queue/store-contract/messages.ts'
import { streamContract } from '../queue/store-contract/streams.ts'
import { traceContract } from '../queue/store-contract/traces.ts'
import { upkeepContract } from '../queue/store-contract/upkeep.ts'
import { throughPooler } from '../support/postgres/pooler.ts'
import { PostgresStores } from '../support/queue-store-postgres.ts'

describe('the queue through a pooler in transaction mode', () => {
  const { factory, openTestStore } = new PostgresStores(throughPooler())
  adminContract(factory)
  upkeepContract(factory)

  // Each of these opens a store before every test around it.
  describe.each([bufferContract, streamContract, messageContract, traceContract])(
    '%o',
    (contract) => contract(openTestStore),
  )
})
