import type { Walk } from '../../access/index.ts'

/**
 * Steps that all walks of a hub together take between two turns of the event loop: as many as the longest walk of
 * one pattern over one topic may have, some tens of ms in the worst case. Only the last piece may go over it.
 */
export const STEPS_PER_TURN = 2_000_000

/**
 * Runs walks so that none of them holds up the process, however many long topics meet however many hostile
 * patterns (hub protocol, H11): what does not fit into this turn of the event loop goes on in the next.
 */
export class Turns {
  #left = STEPS_PER_TURN
  #renewing = false
  /** Walks that wait for steps; whoever has had a turn goes to the end. */
  readonly #waiting: (() => void)[] = []

  /** Runs a walk; `done` hears of its end, at once when the steps of this turn suffice. */
  run<T>(walk: Walk<T>, done: (value: T) => void): void {
    while (this.#left > 0) {
      const step = walk.next()
      if (step.done) {
        done(step.value)
        return
      }
      this.#left -= step.value
      this.#renew()
    }
    this.#waiting.push(() => this.run(walk, done))
  }

  /** The same for who can wait. */
  finish<T>(walk: Walk<T>): Promise<T> {
    return new Promise((resolve) => this.run(walk, resolve))
  }

  #renew(): void {
    if (this.#renewing) return
    this.#renewing = true
    setImmediate(() => {
      this.#renewing = false
      this.#left = STEPS_PER_TURN
      while (this.#left > 0) {
        const next = this.#waiting.shift()
        if (next === undefined) return
        next()
      }
    })
  }
}
