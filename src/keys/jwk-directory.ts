import { LRUCache } from 'lru-cache'
import { FetchError, fetchJson } from './fetch-json.ts'
import { fits, type KeyRequest, type KeySource, type VerificationKey } from './key.ts'
import { type Log, NO_LOG } from './log.ts'
import { parsePublicJwk, verificationKeyOf } from './public-jwk.ts'

/** With the 30 s for which caches in between may keep an answer, a revoked key is refused within 60 s. */
const MAX_AGE_MS = 30_000
/** From this age on a key in use is confirmed in the background, so that busy keys never make anyone wait. */
const CONFIRM_MS = 15_000
/** How long a key outlives the last good answer while its server cannot be reached. */
const MAX_STALE_MS = 3_600_000
/** The same kid is asked for at most this often, failed fetches included (seed of the key sets: 5 s). */
const RETRY_MS = 5000
/** Kids that are new to this process and asked for within one window; above it they are refused unasked. */
const MAX_NEW_PER_WINDOW = 20
const MAX_KIDS = 1000
const MAX_JWK_BYTES = 65_536
const TIMEOUT_MS = 5000

/** Where the keys are, and what the client is made with. */
export interface JwkDirectoryOptions {
  /** A key is fetched from `{baseUrl}/{kid}.jwk`. */
  readonly baseUrl: string
  readonly clock?: { now(): number }
  readonly log?: Log
  /** Time limit of one fetch in ms. */
  readonly timeoutMs?: number
}

/** What is known about one kid. */
interface Known {
  /** Undefined for a kid that has no key. */
  readonly key: VerificationKey | undefined
  /** When the server last said so. */
  readonly confirmedMs: number
  /** When it was last asked, with or without an answer. */
  readonly askedMs: number
}

/**
 * Keys behind a `{kid}.jwk` address (seed "Pub/sub tokens": Claims). One fetch for one kid at a time, shared by
 * all who wait; a 404 drops the key at once; a server that fails keeps the keys at hand for an hour.
 */
export class JwkDirectory implements KeySource {
  readonly about: string
  readonly #baseUrl: string
  readonly #clock: { now(): number }
  readonly #log: Log
  readonly #timeoutMs: number
  readonly #abort = new AbortController()
  readonly #listeners = new Set<() => void>()
  readonly #known = new LRUCache<string, Known>({ max: MAX_KIDS })
  readonly #inFlight = new Map<string, Promise<void>>()
  #windowStartMs = Number.NEGATIVE_INFINITY
  #newInWindow = 0

  constructor({
    baseUrl,
    clock = Date,
    log = NO_LOG,
    timeoutMs = TIMEOUT_MS,
  }: JwkDirectoryOptions) {
    this.#baseUrl = baseUrl.replace(/\/+$/, '')
    this.about = `public keys below ${new URL(this.#baseUrl).host}`
    this.#clock = clock
    this.#log = log
    this.#timeoutMs = timeoutMs
  }

  candidates(
    request: KeyRequest,
  ): readonly VerificationKey[] | Promise<readonly VerificationKey[]> {
    const { kid } = request
    if (kid === undefined) return []
    const known = this.#known.get(kid)
    // A new kid that is being fetched has no need of its own: whoever comes now shares the answer.
    const shared = !known && this.#inFlight.has(kid)
    const need = shared ? 'wait' : this.#needOf(known, this.#clock.now())
    if (need === 'wait') return this.#ask(kid).then(() => this.#fitting(kid, request))
    if (need === 'confirm') void this.#ask(kid)
    return this.#fitting(kid, request)
  }

  onChange(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }

  close(): void {
    this.#abort.abort()
    this.#listeners.clear()
  }

  #fitting(kid: string, request: KeyRequest): readonly VerificationKey[] {
    const known = this.#known.get(kid)
    if (!known?.key || this.#clock.now() - known.confirmedMs > MAX_STALE_MS) return []
    return fits(known.key, request) ? [known.key] : []
  }

  /** Whether the server has to be asked: not now, in the background, or before the request goes on. */
  #needOf(known: Known | undefined, nowMs: number): 'nothing' | 'confirm' | 'wait' {
    if (!known) return this.#mayAskForNew(nowMs) ? 'wait' : 'nothing'
    if (nowMs - known.askedMs < RETRY_MS) return 'nothing'
    if (!known.key) return 'wait'
    const ageMs = nowMs - known.confirmedMs
    if (ageMs < CONFIRM_MS) return 'nothing'
    // While the server is known to fail, requests go on with the key at hand instead of waiting for it.
    const failing = known.askedMs > known.confirmedMs
    return ageMs < MAX_AGE_MS || failing ? 'confirm' : 'wait'
  }

  /** Bounds what a flood of invented kids can make this process fetch. */
  #mayAskForNew(nowMs: number): boolean {
    if (nowMs - this.#windowStartMs >= RETRY_MS) {
      this.#windowStartMs = nowMs
      this.#newInWindow = 0
    }
    this.#newInWindow += 1
    return this.#newInWindow <= MAX_NEW_PER_WINDOW
  }

  #ask(kid: string): Promise<void> {
    const running = this.#inFlight.get(kid)
    if (running !== undefined) return running
    const fetched = this.#fetch(kid).finally(() => this.#inFlight.delete(kid))
    this.#inFlight.set(kid, fetched)
    return fetched
  }

  async #fetch(kid: string): Promise<void> {
    const before = this.#known.get(kid)
    const nowMs = this.#clock.now()
    const key = await this.#load(kid)
    if (key === 'unreachable') {
      this.#known.set(kid, {
        key: before?.key,
        confirmedMs: before?.confirmedMs ?? Number.NEGATIVE_INFINITY,
        askedMs: nowMs,
      })
      return
    }
    this.#known.set(kid, { key, confirmedMs: nowMs, askedMs: nowMs })
    if (before?.key && !(key && before.key.key.equals(key.key) && before.key.alg === key.alg)) {
      for (const listener of this.#listeners) listener()
    }
  }

  /** The key; undefined when the server has none of that name; `unreachable` when it cannot be said. */
  async #load(kid: string): Promise<VerificationKey | undefined | 'unreachable'> {
    try {
      const document = await fetchJson(`${this.#baseUrl}/${encodeURIComponent(kid)}.jwk`, {
        timeoutMs: this.#timeoutMs,
        maxBytes: MAX_JWK_BYTES,
        signal: this.#abort.signal,
      })
      const jwk = parsePublicJwk(document)
      if (jwk.kid === kid) return verificationKeyOf(jwk)
      throw new FetchError('malformed', 'the key has another kid than was asked for')
    } catch (error) {
      if (error instanceof FetchError && error.status === 404) return undefined
      const reason = error instanceof Error ? error.message : String(error)
      this.#log.warn({ source: this.about, kid, reason }, 'public key fetch failed')
      return 'unreachable'
    }
  }
}
