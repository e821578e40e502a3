import type { PopReply, PopRequest } from './api.ts'

/** One pop that may wait: it settles once, by a delivery, its deadline, its client's leaving or a drain. */
export class Waiter {
  readonly request: PopRequest
  readonly reply: Promise<PopReply | null>
  readonly #resolve: (reply: PopReply | null) => void
  readonly #reject: (error: unknown) => void
  readonly #signal: AbortSignal | undefined
  readonly #onAbort: () => void
  #deadline: NodeJS.Timeout | undefined
  #trying = false
  #expired = false
  #settled = false

  constructor(request: PopRequest, signal: AbortSignal | undefined) {
    this.request = request
    const { promise, resolve, reject } = Promise.withResolvers<PopReply | null>()
    this.reply = promise
    this.#resolve = resolve
    this.#reject = reject
    this.#signal = signal
    // The client has gone: a claim made for it would lock the partition for a whole lease.
    this.#onAbort = () => this.settle(null)
    signal?.addEventListener('abort', this.#onAbort, { once: true })
    this.#deadline = setTimeout(() => this.expire(), request.waitMs)
  }

  get settled(): boolean {
    return this.#settled
  }

  /** Marks an attempt in flight: a deadline that passes meanwhile waits for what it brings. */
  begin(): void {
    this.#trying = true
  }

  /** The attempt brought nothing; true when the waiter goes on waiting. */
  cameEmpty(): boolean {
    this.#trying = false
    if (this.#expired) this.settle(null)
    return !this.#settled
  }

  /** No more waiting: at the deadline, at a drain, and when pops are paused. */
  expire(): void {
    this.#expired = true
    if (!this.#trying) this.settle(null)
  }

  settle(reply: PopReply | null): void {
    if (this.#end()) this.#resolve(reply)
  }

  fail(error: unknown): void {
    if (this.#end()) this.#reject(error)
  }

  #end(): boolean {
    if (this.#settled) return false
    this.#settled = true
    clearTimeout(this.#deadline)
    this.#deadline = undefined
    this.#signal?.removeEventListener('abort', this.#onAbort)
    return true
  }
}
