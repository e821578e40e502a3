/** Pauses that double from `firstMs` to `longestMs`, with up to half taken off at random so that processes spread. */
export class Backoff {
  readonly #firstMs: number
  readonly #longestMs: number
  #tries = 0

  constructor(firstMs: number, longestMs: number) {
    this.#firstMs = firstMs
    this.#longestMs = longestMs
  }

  /** The next pause in ms. */
  next(): number {
    const full = Math.min(this.#firstMs * 2 ** this.#tries, this.#longestMs)
    this.#tries += 1
    return full * (0.5 + Math.random() / 2)
  }

  /** Starts again from the first pause. */
  reset(): void {
    this.#tries = 0
  }
}
