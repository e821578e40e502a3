import { hash } from 'node:crypto'
import { LRUCache } from 'lru-cache'

/** Entries held at most by default; at the usual 1 KB of token that is some 20 MB of claims. */
const MAX_ENTRIES = 10_000
/** Sum of the lengths of all cached tokens at most, against few but very long ones. */
const MAX_TOKEN_CHARS = 33_554_432

/** The shortest and fastest of the text forms: one character for each byte. */
const digestOf = (token: string): string => hash('sha256', token, 'binary')

/**
 * Tokens that were verified, found by the SHA-256 of the token, so that no credential lies in memory.
 * The owner re-checks the clock on each hit and empties it when the keys change.
 */
export class VerifiedTokenCache<V extends object> {
  readonly #entries: LRUCache<string, V>
  readonly #on: boolean
  #generation = 0

  /** @param maxEntries how many tokens are kept; 0 keeps none */
  constructor(maxEntries = MAX_ENTRIES) {
    this.#on = maxEntries > 0
    this.#entries = new LRUCache({ max: Math.max(1, maxEntries), maxSize: MAX_TOKEN_CHARS })
  }

  /** Counts the times the cache was emptied; read it before a verification starts, see {@link store}. */
  get generation(): number {
    return this.#generation
  }

  get size(): number {
    return this.#entries.size
  }

  /** What was stored for exactly this token. */
  find(token: string): V | undefined {
    return this.#on ? this.#entries.get(digestOf(token)) : undefined
  }

  /** Stores what a token was found to be, unless the keys changed since its verification began. */
  store(token: string, value: V, generation: number): void {
    if (this.#on && generation === this.#generation) {
      this.#entries.set(digestOf(token), value, { size: Math.max(1, token.length) })
    }
  }

  /** Empties the cache: what was verified with the former keys must be verified anew. */
  clear(): void {
    this.#generation += 1
    this.#entries.clear()
  }
}
