import { afterAll, describe } from 'vitest'
import { ackContract } from '../queue/store-contract/ack.ts'
import { listingContract } from '../queue/store-contract/listings.ts'
import { popContract } from '../queue/store-contract/pop.ts'
import { pushContract } from '../queue/store-contract/push.ts'
import { transactionContract } from '../queue/store-contract/transaction.ts'
import { startPooler, type TestPooler } from '../support/postgres/pooler.ts'
import { PostgresStores } from '../support/queue-store-postgres.ts'

describe('the queue through a pooler in transaction mode', () => {
  let pooler: TestPooler | undefined
  const { factory } = new PostgresStores(async ({ target }) => {
    pooler = await startPooler(target)
    return { target: pooler.target, listenTarget: target, pooler: true }
  })
  afterAll(() => pooler?.stop())
  pushContract(factory)
  popContract(factory)
  ackContract(factory)
  transactionContract(factory)
  listingContract(factory)
})
