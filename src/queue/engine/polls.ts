import type { Wake } from '../store.ts'
import type { PopReply, PopRequest } from './api.ts'
import { PollLimitError } from './errors.ts'
import { type Attempt, concerns, Line } from './line.ts'
import { subscriptionOf } from './subscription.ts'
import { Waiter } from './waiter.ts'
import type { Writer } from './writer.ts'

/** What pops need of the engine. */
export interface PollsOptions {
  readonly writer: Writer
  /** ms since 1970. */
  readonly now: () => number
  readonly defaultSubscriptionMode: string
  readonly maxParkedPops: number
}

/** Lines that one look of `lookAgain` wakes: each costs a pop. */
const LINES_PER_LOOK = 500

type Tried = Attempt & { readonly reply: PopReply | null }

/** All pops: those answered at once, and the lines of those that wait. Queue API 5.4. */
export class Polls {
  readonly #options: PollsOptions
  readonly #lines = new Map<string, Line>()
  readonly #byQueue = new Map<string, Set<Line>>()
  readonly #byLabel = new Set<Line>()
  #waiting = 0
  /** Counts wakes, so that one between a first look and the wait that follows is not lost. */
  #wakes = 0
  #paused = false
  #drained = false

  constructor(options: PollsOptions) {
    this.#options = options
  }

  /** Pops that wait now. */
  get parked(): number {
    return this.#waiting
  }

  /** The same by queue; those by namespace or task count for the empty name. */
  parkedByQueue(): ReadonlyMap<string, number> {
    const counts = new Map<string, number>()
    for (const { scope, size } of this.#lines.values()) {
      const queue = 'queue' in scope ? scope.queue : ''
      if (size > 0) counts.set(queue, (counts.get(queue) ?? 0) + size)
    }
    return counts
  }

  /** While paused every pop is answered with nothing, at once. Queue API 13.2. */
  get paused(): boolean {
    return this.#paused
  }

  set paused(value: boolean) {
    this.#paused = value
    if (value) this.#dismissAll()
  }

  /** @throws PollLimitError, and what the store throws */
  async pop(request: PopRequest, signal?: AbortSignal): Promise<PopReply | null> {
    const over = () => this.#paused || this.#drained || signal?.aborted === true
    const { waitMs } = request
    const startedAtMs = this.#options.now()
    // Most pops of a busy queue end with their first look, which needs no place in a line.
    while (!over()) {
      const seen = this.#wakes
      const tried = await this.#try(request, () => signal?.aborted === true)
      if (tried.served) return tried.reply
      if (waitMs === 0 && !tried.again) return null
      if (waitMs === 0) continue
      // A clock that was set back must not make the wait longer.
      const leftMs = waitMs - Math.max(0, this.#options.now() - startedAtMs)
      if (over() || leftMs <= 0) return null
      const quiet = seen === this.#wakes && !tried.again
      return this.#wait({ ...request, waitMs: leftMs }, signal, quiet ? tried : null)
    }
    return null
  }

  /** Undoes a delivery whose client has gone; what was acknowledged or leased anew meanwhile stays. */
  async giveBack(group: string, { leaseId, claims }: PopReply): Promise<void> {
    const { writer, now } = this.#options
    await writer.write('release', {
      group,
      leaseId,
      claims: claims.map(({ partitionId, after, upTo }) => ({ partitionId, after, upTo })),
      nowUs: Math.floor(now() * 1000),
    })
  }

  /** Hands wakes to the lines they concern. */
  wake(wakes: readonly Wake[]): void {
    this.#wakes += wakes.length
    for (const wake of wakes) {
      for (const line of this.#byQueue.get(wake.queue) ?? []) this.#wakeLine(line, wake)
      for (const line of this.#byLabel) if (concerns(line.scope, wake)) this.#wakeLine(line, wake)
    }
  }

  /** Lets the pops of a queue look again; those by namespace or task too, whose queues are not known here. */
  wakeQueue(queue: string): void {
    this.#wakes += 1
    for (const line of this.#byQueue.get(queue) ?? []) line.wake()
    for (const line of this.#byLabel) line.wake()
  }

  /** Lets the waiting pops of some lines look again, in turn: for a store whose wakes may get lost on the way. */
  lookAgain(): void {
    for (const [key, line] of [...this.#lines].slice(0, LINES_PER_LOOK)) {
      line.wake()
      // To the end of the row, so that the next look begins with the others.
      this.#lines.delete(key)
      this.#lines.set(key, line)
    }
  }

  /** Answers every waiting pop with nothing, and every later one at once. */
  drain(): void {
    this.#drained = true
    this.#dismissAll()
  }

  #dismissAll(): void {
    for (const line of this.#lines.values()) line.dismiss()
  }

  #wakeLine(line: Line, { atMs }: Wake): void {
    const nowMs = this.#options.now()
    if (atMs === null || atMs <= nowMs) line.wake()
    else line.wakeAt(atMs, nowMs)
  }

  async #wait(
    request: PopRequest,
    signal: AbortSignal | undefined,
    tried: Attempt | null,
  ): Promise<PopReply | null> {
    if (this.#waiting >= this.#options.maxParkedPops) throw new PollLimitError()
    const key = JSON.stringify([request.scope, request.group])
    const line = this.#lines.get(key) ?? this.#open(key, request)
    const waiter = new Waiter(request, signal)
    this.#waiting += 1
    try {
      await line.join(waiter, tried)
      return await waiter.reply
    } finally {
      this.#waiting -= 1
      if (line.idle) this.#close(key, line)
    }
  }

  #open(key: string, { scope }: PopRequest): Line {
    const line = new Line(scope, this.#options.now, async (waiter) => {
      const tried = await this.#try(waiter.request, () => waiter.settled)
      if (tried.reply !== null) waiter.settle(tried.reply)
      return tried
    })
    this.#lines.set(key, line)
    if (!('queue' in scope)) this.#byLabel.add(line)
    else this.#byQueue.set(scope.queue, (this.#byQueue.get(scope.queue) ?? new Set()).add(line))
    return line
  }

  #close(key: string, line: Line): void {
    // A line of the same key may have been opened since.
    if (this.#lines.get(key) === line) this.#lines.delete(key)
    this.#byLabel.delete(line)
    const { scope } = line
    if (!('queue' in scope)) return
    const lines = this.#byQueue.get(scope.queue)
    lines?.delete(line)
    if (lines?.size === 0) this.#byQueue.delete(scope.queue)
  }

  /** One attempt; what it claims for a client that has gone meanwhile is given back at once. */
  async #try(request: PopRequest, gone: () => boolean): Promise<Tried> {
    const { writer, now, defaultSubscriptionMode } = this.#options
    if (gone()) return { reply: null, served: true, again: false, nextReadyAtMs: null }
    const { scope, group, batch, leaseSeconds, autoAck } = request
    const result = await writer.write('pop', {
      scope,
      group,
      batch,
      partitions: request.partitions,
      leaseSeconds,
      autoAck,
      subscription: subscriptionOf(
        request.subscriptionMode,
        request.subscriptionFrom,
        defaultSubscriptionMode,
      ),
      nowUs: Math.floor(now() * 1000),
    })
    const { claims, leaseId, nextReadyAtMs, unfinished: again } = result
    if (claims.length === 0) return { reply: null, served: false, again, nextReadyAtMs }
    if (!gone()) return { reply: { leaseId, claims }, served: true, again: false, nextReadyAtMs }
    await this.giveBack(group, { leaseId, claims })
    return { reply: null, served: true, again: false, nextReadyAtMs: null }
  }
}
