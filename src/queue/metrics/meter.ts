import type { PopReply, PopRequest, PushReply, TransactionReply } from '../engine/api.ts'
import type { EngineObserver } from '../engine/observer.ts'
import type { StoreNote } from '../store-notes.ts'
import type { AckItem, AckResult, PushItem, TransactionOp } from '../store-shapes.ts'
import type { CycleArgs, CycleOutcome } from '../store-streams.ts'
import { OTHER_QUEUES, type Tally } from './tally.ts'

/**
 * Turns what the engine did into figures of the tally. A request that touches several queues counts once
 * for each of them; what belongs to no queue counts for the row of the others.
 */
export class Meter implements EngineObserver {
  readonly #tally: Tally
  readonly #now: () => number

  /** `now` in ms since 1970. */
  constructor(tally: Tally, now: () => number) {
    this.#tally = tally
    this.#now = now
  }

  /** A push and what became of its items, in the same order. */
  pushed(items: readonly Pick<PushItem, 'queue'>[], replies: readonly Pick<PushReply, 'status'>[]) {
    const named = new Set<string>()
    // Most pushes are of one queue: a run of them is counted at once.
    for (let from = 0; from < items.length; ) {
      const queue = items[from]?.queue ?? OTHER_QUEUES
      let to = from
      let queued = 0
      let duplicates = 0
      for (; to < items.length && (items[to]?.queue ?? OTHER_QUEUES) === queue; to += 1) {
        const status = replies[to]?.status
        if (status === 'queued') queued += 1
        else if (status === 'duplicate') duplicates += 1
      }
      if (!named.has(queue)) this.#tally.note(queue, 'pushRequests')
      named.add(queue)
      if (queued > 0) this.#tally.note(queue, 'pushMessages', queued)
      if (duplicates > 0) this.#tally.note(queue, 'duplicates', duplicates)
      from = to
    }
  }

  /** A pop; null when it delivered nothing. */
  popped(request: Pick<PopRequest, 'scope'>, reply: PopReply | null): void {
    if (reply === null) {
      const queue = 'queue' in request.scope ? request.scope.queue : OTHER_QUEUES
      this.#tally.note(queue, 'popRequests')
      this.#tally.note(queue, 'popEmpty')
      return
    }
    for (const queue of new Set(reply.claims.map((claim) => claim.queue))) {
      this.#tally.note(queue, 'popRequests')
    }
    const nowMs = this.#now()
    for (const { queue, messages } of reply.claims) {
      this.#tally.note(queue, 'popMessages', messages.length)
      this.#tally.note(queue, 'lagCount', messages.length)
      const lags = messages.map((message) => Math.max(0, nowMs - message.createdAtUs / 1000))
      this.#tally.note(queue, 'lagSumMs', Math.round(lags.reduce((sum, lag) => sum + lag, 0)))
      this.#tally.note(queue, 'lagMaxMs', Math.round(Math.max(0, ...lags)))
    }
  }

  /** An ack and what became of its items, in the same order. */
  acked(items: readonly Pick<AckItem, 'status'>[], results: readonly AckResult[]): void {
    const queues = new Set(results.map((result) => result.queueName ?? OTHER_QUEUES))
    for (const queue of queues) this.#tally.note(queue, 'ackRequests')
    for (const [at, result] of results.entries()) {
      const queue = result.queueName ?? OTHER_QUEUES
      const good = result.success && items[at]?.status === 'completed'
      this.#tally.note(queue, good ? 'ackSuccess' : 'ackFailed')
      if (result.dlq) this.#tally.note(queue, 'dlqMessages')
    }
  }

  /** A transaction; only a committed one counts. Its acks name no queue and count for the others. */
  transacted(operations: readonly TransactionOp[], reply: TransactionReply): void {
    if (!reply.success) return
    const queues = operations.flatMap((one) => (one.type === 'push' ? [one.item.queue] : []))
    const touched = queues.length === 0 ? [OTHER_QUEUES] : queues
    for (const queue of new Set(touched)) this.#tally.note(queue, 'transactions')
    for (const [at, result] of reply.results.entries()) {
      const operation = operations[at]
      if (result.type === 'push') {
        this.#tally.note(result.queueName, result.duplicate ? 'duplicates' : 'pushMessages')
      } else {
        const good = operation?.type === 'ack' && operation.item.status === 'completed'
        this.#tally.note(OTHER_QUEUES, good ? 'ackSuccess' : 'ackFailed')
        if (result.dlq) this.#tally.note(OTHER_QUEUES, 'dlqMessages')
      }
    }
  }

  /** A cycle of a stream: its sink pushes, and its ack as an ack of `count` messages. */
  cycled({ ack, pushItems }: Omit<CycleArgs, 'nowUs'>, outcome: CycleOutcome): void {
    if (!outcome.success) return
    if (pushItems.length > 0) this.pushed(pushItems, outcome.pushes)
    if (ack === null) return
    const queue = outcome.queueName ?? OTHER_QUEUES
    this.#tally.note(queue, 'ackRequests')
    this.#tally.note(queue, ack.status === 'completed' ? 'ackSuccess' : 'ackFailed', ack.count)
  }

  /** What only the store sees. */
  noted(notes: readonly StoreNote[]): void {
    for (const { queue, column, value } of notes) this.#tally.note(queue, column, value)
  }

  /** A request that the store could not serve. */
  storeFailed(queue: string = OTHER_QUEUES): void {
    this.#tally.note(queue, 'storeErrors')
  }
}
