import type { Writes } from '../../../store.ts'
import type { Context } from '../context.ts'
import type { SubscriptionTable } from '../subscriptions.ts'
import { PartitionCleaner } from './cleanup.ts'
import { ExpiryDesk } from './expiry.ts'
import { Purger } from './purge.ts'
import { Trimmer } from './trim.ts'

type Args = Writes['jobStep']['args']
type Result = Writes['jobStep']['result']

/** One small step of a background job. Queue API 16. */
export function jobHandler(
  context: Context,
  subscriptions: SubscriptionTable,
): (args: Args) => Result {
  const expiry = new ExpiryDesk(context, new Trimmer(context))
  const cleaner = new PartitionCleaner(context)
  const purger = new Purger(context, subscriptions)
  return (args) => {
    switch (args.job) {
      case 'partitionCleanup':
        return cleaner.step(args)
      case 'purge':
        return purger.step(args)
      default:
        return expiry.step(args.job, args)
    }
  }
}
