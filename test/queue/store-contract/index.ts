import { ackContract } from './ack.ts'
import { adminContract } from './admin.ts'
import type { StoreFactory } from './bench.ts'
import { listingContract } from './listings.ts'
import { popContract } from './pop.ts'
import { pushContract } from './push.ts'
import { transactionContract } from './transaction.ts'
import { upkeepContract } from './upkeep.ts'

/** Everything that the engine relies on, to be run against each store. */
export function storeContract(open: StoreFactory): void {
  pushContract(open)
  popContract(open)
  ackContract(open)
  transactionContract(open)
  adminContract(open)
  upkeepContract(open)
  listingContract(open)
}
