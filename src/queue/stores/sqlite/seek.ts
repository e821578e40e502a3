import type { SeekTarget, Writes } from '../../store.ts'
import { startCursor } from './claim.ts'
import type { Context } from './context.ts'
import { endLease } from './cursors.ts'
import type { PartitionState, SubscriptionState } from './state.ts'
import type { SubscriptionTable } from './subscriptions.ts'

type Args = Writes['seek']['args']
type Result = Writes['seek']['result']

/** Puts a group's cursor to a position: no lease, no retry count, totals in step. */
export function moveCursor(
  context: Context,
  subscriptions: SubscriptionTable,
  at: { readonly subscription: SubscriptionState; readonly partition: PartitionState },
  position: number,
  nowUs: number,
): void {
  const { subscription, partition } = at
  const row = subscriptions.cursor(subscription, partition, nowUs)
  const [low, high] = row.position < position ? [row.position, position] : [position, row.position]
  const moved = context.messages.count(partition, low, high)
  const passed = row.position < position ? moved : -moved
  context.tally.subscription(subscription.id, 'passed', passed)
  startCursor(context, row)
  row.position = position
  row.retry_count = 0
  endLease(row)
  context.rest(row, partition, nowUs)
  context.cursors.save(row)
}

/** One step of a seek over the partitions of a queue. Queue API 7.7 and 7.8. */
export class Seeker {
  readonly #context: Context
  readonly #subscriptions: SubscriptionTable

  constructor(context: Context, subscriptions: SubscriptionTable) {
    this.#context = context
    this.#subscriptions = subscriptions
  }

  seek(args: Args): Result {
    const { queues, partitions } = this.#context
    const nothing: Result = { found: false, updated: 0, movedTo: null, next: null }
    const queue = queues.byName(args.queue)
    if (queue === undefined) return nothing
    if (args.partition !== null) {
      const partition = partitions.find(queue, args.partition)
      if (partition === undefined) return nothing
      const movedTo = this.#one(partition, args)
      return { found: true, updated: 1, movedTo, next: null }
    }
    const page = partitions.page(queue, args.after ?? 0, args.limit)
    for (const partition of page) this.#one(partition, args)
    const next = page.length < args.limit ? null : (page.at(-1)?.id ?? null)
    return { found: true, updated: page.length, movedTo: null, next }
  }

  #one(partition: PartitionState, { group, target, nowUs }: Args): string | null {
    const subscription = this.#subscriptions.ensure(partition.queue, group)
    const position = this.#positionOf(partition, target)
    moveCursor(this.#context, this.#subscriptions, { subscription, partition }, position, nowUs)
    return this.#context.messages.lastUpTo(partition, position)?.id ?? null
  }

  #positionOf(partition: PartitionState, target: SeekTarget): number {
    if (target.to === 'end') return partition.next - 1
    return this.#context.messages.firstMadeFrom(partition, target.atUs) - 1
  }
}
