import { freshId } from '../../message-id.ts'
import type { Claim, PopArgs, PopResult } from '../../store.ts'
import { claim } from './claim.ts'
import type { Context } from './context.ts'
import { leaseLives } from './cursors.ts'
import type { PartitionState, QueueState, SubscriptionState } from './state.ts'
import type { SubscriptionTable } from './subscriptions.ts'

/** Partitions one pop may look at in vain before it lets other writes go first. */
const MAX_MISSES = 256
/** Giving cursors to a page of partitions costs about as much as this many vain looks. */
const SWEEP_MISSES = 64

interface Source {
  readonly queue: QueueState
  readonly subscription: SubscriptionState
}

/** The state of one pop on its way over the ready-lists. */
interface Search {
  readonly args: PopArgs
  readonly leaseId: string
  readonly claims: Claim[]
  left: number
  misses: number
  nextUs: number | null
}

function earlier(a: number | null, b: number): number {
  return a === null ? b : Math.min(a, b)
}

/** Pops: registers the group, walks the ready-list, claims. Queue API 5.4. */
export class Popper {
  readonly #context: Context
  readonly #subscriptions: SubscriptionTable

  constructor(context: Context, subscriptions: SubscriptionTable) {
    this.#context = context
    this.#subscriptions = subscriptions
  }

  pop(args: PopArgs): PopResult {
    const search: Search = {
      args,
      leaseId: args.autoAck ? '' : freshId(Math.floor(args.nowUs / 1000)),
      claims: [],
      left: args.batch,
      misses: 0,
      nextUs: null,
    }
    const finished = this.#search(search)
    const { claims } = search
    const nextReadyAtMs = search.nextUs === null ? null : Math.ceil(search.nextUs / 1000)
    return {
      claims,
      leaseId: claims.length === 0 ? '' : search.leaseId,
      nextReadyAtMs: claims.length === 0 ? nextReadyAtMs : null,
      unfinished: claims.length === 0 && !finished,
    }
  }

  /** Fills the search; false when it had to stop early. */
  #search(search: Search): boolean {
    const { scope } = search.args
    if (!('queue' in scope)) return this.#overQueues(search, this.#labelled(search.args))
    const source = this.#contact(scope.queue, search.args)
    if (source === null) return true
    if (scope.partition === null) return this.#overQueues(search, [source])
    const partition = this.#context.partitions.find(source.queue, scope.partition)
    if (partition !== undefined) this.#take(search, source, partition)
    return true
  }

  #contact(queueName: string, args: PopArgs): Source | null {
    const { group, subscription: wanted, nowUs } = args
    const queue = this.#context.queues.byName(queueName)
    if (queue === undefined) {
      this.#subscriptions.contactUnknown(queueName, group, wanted, nowUs)
      return null
    }
    return { queue, subscription: this.#subscriptions.contact(queue, group, wanted, nowUs) }
  }

  /** Queues of a namespace and task: higher priority first, then the one that has waited longest. */
  #labelled(args: PopArgs): readonly Source[] {
    const { scope, group, subscription: wanted, nowUs } = args
    if ('queue' in scope) return []
    return this.#context.queues
      .matching(scope.namespace, scope.task)
      .map((queue) => {
        const subscription = this.#subscriptions.contact(queue, group, wanted, nowUs)
        const readyUs = this.#context.cursors.first(subscription.id)?.ready_at
        return { queue, subscription, readyUs: readyUs ?? Number.POSITIVE_INFINITY }
      })
      .sort((a, b) => {
        const rank = b.queue.options.priority - a.queue.options.priority
        return rank === 0 ? a.readyUs - b.readyUs : rank
      })
  }

  #overQueues(search: Search, sources: readonly Source[]): boolean {
    let finished = true
    for (const source of sources) {
      if (this.#full(search)) return true
      finished = this.#overReadyList(search, source) && finished
    }
    return finished
  }

  #full(search: Search): boolean {
    const { partitions } = search.args
    return search.left <= 0 || (partitions > 0 && search.claims.length >= partitions)
  }

  /** Walks one ready-list from its front; each partition that gives nothing leaves the front. */
  #overReadyList(search: Search, source: Source): boolean {
    const { queue, subscription } = source
    const { nowUs } = search.args
    while (!this.#full(search)) {
      if (search.misses >= MAX_MISSES) return false
      const entry = this.#context.cursors.first(subscription.id)
      if (entry !== undefined && entry.ready_at <= nowUs) {
        if (!this.#takeById(search, source, entry.partition_id)) search.misses += 1
      } else if (subscription.sweptAll) {
        if (entry !== undefined) search.nextUs = earlier(search.nextUs, entry.ready_at)
        return true
      } else {
        this.#subscriptions.sweep(queue, subscription, nowUs)
        search.misses += SWEEP_MISSES
      }
    }
    return true
  }

  #takeById(search: Search, source: Source, partitionId: number): boolean {
    const partition = this.#context.partitions.byId(partitionId)
    if (partition !== undefined) return this.#take(search, source, partition)
    this.#context.cursors.remove(partitionId, source.subscription.id)
    return false
  }

  #take(search: Search, source: Source, partition: PartitionState): boolean {
    const { leaseSeconds, nowUs } = search.args
    const row = this.#subscriptions.cursor(source.subscription, partition, nowUs)
    if (leaseLives(row, nowUs)) {
      if (row.lease_until !== null) search.nextUs = earlier(search.nextUs, row.lease_until)
      return false
    }
    const { leaseId, left: limit } = search
    const taken = claim(this.#context, row, partition, { limit, leaseId, leaseSeconds, nowUs })
    if (taken === null) {
      if (row.ready_at !== null) search.nextUs = earlier(search.nextUs, row.ready_at)
      return false
    }
    search.claims.push(taken)
    search.left -= taken.messages.length
    return true
  }
}
