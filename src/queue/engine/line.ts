import type { PopScope, Wake } from '../store.ts'
import type { Waiter } from './waiter.ts'

/** What one attempt for a waiter came to. `again`: the search had to pause, try at once. */
export interface Attempt {
  readonly served: boolean
  readonly nextReadyAtMs: number | null
  readonly again: boolean
}

/** Longest delay that setTimeout takes. */
const MAX_TIMER_MS = 2_147_483_647

/** True when something on the wake's queue may be deliverable in the scope. */
export function concerns(scope: PopScope, wake: Wake): boolean {
  if ('queue' in scope) return scope.queue === wake.queue
  const { namespace, task } = scope
  return (
    (namespace === null || namespace === wake.namespace) && (task === null || task === wake.task)
  )
}

/**
 * The waiting pops of one scope and group. One timer for all of them stands for the next moment at which
 * something may become deliverable; nothing polls.
 */
export class Line {
  readonly scope: PopScope
  readonly #now: () => number
  readonly #attempt: (waiter: Waiter) => Promise<Attempt>
  readonly #parked = new Set<Waiter>()
  /** Counts wakes, so that a wake during an attempt is not lost. */
  #wakes = 0
  #trying = 0
  #serving = false
  #timer: NodeJS.Timeout | undefined
  #timerAtMs = Number.POSITIVE_INFINITY

  constructor(scope: PopScope, now: () => number, attempt: (waiter: Waiter) => Promise<Attempt>) {
    this.scope = scope
    this.#now = now
    this.#attempt = attempt
  }

  /** Pops that wait here. */
  get size(): number {
    return this.#parked.size
  }

  get idle(): boolean {
    return this.#parked.size === 0 && this.#trying === 0
  }

  /**
   * First tries for the waiter alone, at once, unless `tried` says that nothing has changed since a try of its own;
   * parks it when that brings nothing.
   */
  async join(waiter: Waiter, tried: Attempt | null): Promise<void> {
    if (tried === null) await this.#tryUntilQuiet(waiter)
    if (waiter.settled) return
    this.#parked.add(waiter)
    const readyAtMs = tried?.nextReadyAtMs ?? null
    if (readyAtMs !== null) this.wakeAt(readyAtMs, this.#now())
    await waiter.reply.catch(() => null)
    this.#parked.delete(waiter)
    if (this.idle) this.#disarm()
  }

  /** Something may be deliverable now. */
  wake(): void {
    this.#wakes += 1
    if (this.#parked.size > 0 && !this.#serving) void this.#serve()
  }

  /** Something may become deliverable at a moment. */
  wakeAt(atMs: number, nowMs: number): void {
    if (this.idle || atMs >= this.#timerAtMs) return
    clearTimeout(this.#timer)
    this.#timerAtMs = atMs
    const delayMs = Math.min(Math.max(atMs - nowMs, 1), MAX_TIMER_MS)
    this.#timer = setTimeout(() => {
      this.#disarm()
      this.wake()
    }, delayMs)
  }

  /** Lets every waiter go with nothing. */
  dismiss(): void {
    for (const waiter of this.#parked) waiter.expire()
    this.#disarm()
  }

  #disarm(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    this.#timerAtMs = Number.POSITIVE_INFINITY
  }

  async #try(waiter: Waiter): Promise<boolean> {
    if (waiter.settled) return true
    this.#trying += 1
    try {
      waiter.begin()
      const attempt = await this.#attempt(waiter)
      if (attempt.served) return true
      if (attempt.again) this.#wakes += 1
      if (attempt.nextReadyAtMs !== null) this.wakeAt(attempt.nextReadyAtMs, this.#now())
      return !waiter.cameEmpty()
    } catch (error) {
      waiter.fail(error)
      return true
    } finally {
      this.#trying -= 1
    }
  }

  async #tryUntilQuiet(waiter: Waiter): Promise<void> {
    let seen: number
    do {
      seen = this.#wakes
      if (await this.#try(waiter)) return
    } while (seen !== this.#wakes)
  }

  /** Serves parked waiters, oldest first, twice as many each round as long as all are served. */
  async #serve(): Promise<void> {
    this.#serving = true
    let size = 1
    let goOn = true
    while (goOn && this.#parked.size > 0) {
      const seen = this.#wakes
      const round = [...this.#parked].slice(0, size)
      const served = await Promise.all(round.map((waiter) => this.#try(waiter)))
      for (const waiter of round) if (waiter.settled) this.#parked.delete(waiter)
      const all = served.every((done) => done)
      size = all ? size * 2 : 1
      goOn = all || seen !== this.#wakes
    }
    this.#serving = false
  }
}
