import type { AckItem, AckResult, TransactionOp } from '../store.ts'
import type { EngineCounters, PopReply, PushReply, Rates, TransactionReply } from './api.ts'

/** Length of the running mean. */
const WINDOW_S = 60

/** Events per second, as a mean over the last minute. */
class Rate {
  readonly #perSecond = new Float64Array(WINDOW_S)
  #lastS = 0

  add(count: number, nowMs: number): void {
    const slot = this.#turnTo(nowMs)
    this.#perSecond[slot] = (this.#perSecond[slot] ?? 0) + count
  }

  mean(nowMs: number): number {
    this.#turnTo(nowMs)
    return this.#perSecond.reduce((sum, count) => sum + count, 0) / WINDOW_S
  }

  /** Empties the seconds that have gone by; answers the slot of this one. */
  #turnTo(nowMs: number): number {
    const nowS = Math.floor(nowMs / 1000)
    const gone = Math.min(Math.max(nowS - this.#lastS, 0), WINDOW_S)
    for (let i = 0; i < gone; i += 1) this.#perSecond[(nowS - i) % WINDOW_S] = 0
    this.#lastS = Math.max(this.#lastS, nowS)
    return this.#lastS % WINDOW_S
  }
}

type Tallied = Omit<EngineCounters, 'parked' | 'pendingWrites' | 'storeErrors'>
type Mutable<T> = { -readonly [K in keyof T]: T[K] }

/** What the engine has done since it was made, and how fast. */
export class Counts {
  readonly total: Mutable<Tallied> = {
    pushRequests: 0,
    pushMessages: 0,
    popRequests: 0,
    popMessages: 0,
    popEmpty: 0,
    ackRequests: 0,
    ackSuccess: 0,
    ackFailed: 0,
    transactions: 0,
    deadLettered: 0,
  }
  readonly #pushed = new Rate()
  readonly #popped = new Rate()
  readonly #acked = new Rate()
  readonly #now: () => number

  /** `now` in ms since 1970. */
  constructor(now: () => number) {
    this.#now = now
  }

  pushed(replies: readonly PushReply[]): void {
    this.total.pushRequests += 1
    let queued = 0
    for (const { status } of replies) if (status === 'queued') queued += 1
    this.total.pushMessages += queued
    this.#pushed.add(queued, this.#now())
  }

  popped(reply: PopReply | null): void {
    this.total.popRequests += 1
    if (reply === null) {
      this.total.popEmpty += 1
      return
    }
    const count = reply.claims.reduce((sum, { messages }) => sum + messages.length, 0)
    this.total.popMessages += count
    this.#popped.add(count, this.#now())
  }

  acked(items: readonly AckItem[], results: readonly AckResult[]): void {
    this.total.ackRequests += 1
    let good = 0
    results.forEach((result, i) => {
      if (result.success && items[i]?.status === 'completed') good += 1
      if (result.dlq) this.total.deadLettered += 1
    })
    this.total.ackSuccess += good
    this.total.ackFailed += results.length - good
    this.#acked.add(good, this.#now())
  }

  /** Counts a committed transaction with its pushes and acks. */
  transacted(operations: readonly TransactionOp[], reply: TransactionReply): void {
    if (!reply.success) return
    this.total.transactions += 1
    let pushed = 0
    let acked = 0
    reply.results.forEach((result, i) => {
      const operation = operations[i]
      if (result.type === 'push' && !result.duplicate) pushed += 1
      if (result.type === 'ack' && operation?.type === 'ack') {
        if (operation.item.status === 'completed') acked += 1
        else this.total.ackFailed += 1
        if (result.dlq) this.total.deadLettered += 1
      }
    })
    this.total.pushMessages += pushed
    this.total.ackSuccess += acked
    this.#pushed.add(pushed, this.#now())
    this.#acked.add(acked, this.#now())
  }

  rates(): Rates {
    const nowMs = this.#now()
    return {
      pushedPerSecond: this.#pushed.mean(nowMs),
      poppedPerSecond: this.#popped.mean(nowMs),
      ackedPerSecond: this.#acked.mean(nowMs),
    }
  }
}
