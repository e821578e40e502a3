import jwksRsa from 'jwks-rsa'
import { FetchError, fetchJson } from './fetch-json.ts'
import { type KeySet, readJwkSet } from './jwk.ts'
import type { KeyKind, KeyRequest, KeySource, VerificationKey } from './key.ts'
import { type Log, NO_LOG } from './log.ts'
import { chooseKeys, type KeyChoice } from './select.ts'

/** Seed: "The body is capped at 1 MiB". */
export const MAX_KEY_SET_BYTES = 1_048_576
/** Seed: "throttled to at most once every 5 seconds"; counted from the start of an on-demand fetch. */
export const ON_DEMAND_INTERVAL_MS = 5000

/** What a key set client needs to know. */
export interface JwksOptions {
  readonly url: string
  /** Kinds of entries that are read; all others are skipped. */
  readonly kinds: readonly KeyKind[]
  readonly choice: KeyChoice
  readonly timeoutMs: number
  readonly refreshIntervalS: number
  readonly log?: Log
  /** Time in ms; the throttle and the age of the set look at it. */
  readonly clock?: { now(): number }
}

/**
 * A key set behind a URL, cached. A request whose key is cached never waits; one fetch runs at a time and all who
 * wait share its outcome; a failed fetch keeps the keys there are.
 */
export class JwksSource implements KeySource {
  readonly about: string
  /** Settles when the pre-fetch has ended, well or not; never rejects. */
  readonly ready: Promise<void>
  readonly #options: JwksOptions
  readonly #log: Log
  readonly #now: () => number
  readonly #client: jwksRsa.JwksClient
  readonly #abort = new AbortController()
  readonly #listeners = new Set<() => void>()
  readonly #timer: NodeJS.Timeout
  #set: KeySet | undefined
  #inFlight: Promise<boolean> | undefined
  #loadedAtMs: number | undefined
  #lastOnDemandMs = Number.NEGATIVE_INFINITY

  constructor(options: JwksOptions) {
    this.#options = options
    this.#log = options.log ?? NO_LOG
    const clock = options.clock ?? Date
    this.#now = () => clock.now()
    this.about = `key set ${withoutSecrets(options.url)}`
    this.#client = jwksRsa({
      jwksUri: options.url,
      fetcher: (url) => this.#fetchDocument(url),
      // Cache, throttle and timeout are this class's own: the rules for them differ from the package's.
      cache: false,
      rateLimit: false,
    })
    this.ready = this.#preFetch()
    this.#timer = setInterval(() => void this.#refresh(), options.refreshIntervalS * 1000)
    this.#timer.unref()
  }

  /** How many usable keys are cached. */
  get size(): number {
    return this.#set?.keys.length ?? 0
  }

  /** When the set was last fetched, in ms since 1970; undefined while it never was. */
  get loadedAtMs(): number | undefined {
    return this.#loadedAtMs
  }

  candidates(
    request: KeyRequest,
  ): readonly VerificationKey[] | Promise<readonly VerificationKey[]> {
    const cached = this.#choose(request)
    return cached.length > 0 ? cached : this.#fetchAndChoose(request)
  }

  onChange(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }

  close(): void {
    clearInterval(this.#timer)
    this.#abort.abort()
    this.#listeners.clear()
  }

  #choose(request: KeyRequest): readonly VerificationKey[] {
    return chooseKeys(this.#set?.keys ?? [], request, this.#options.choice)
  }

  async #fetchAndChoose(request: KeyRequest): Promise<readonly VerificationKey[]> {
    await this.#refreshOnDemand()
    return this.#choose(request)
  }

  async #preFetch(): Promise<void> {
    if (await this.#refresh()) this.#log.info({ keys: this.size }, 'JWKS pre-fetch OK')
    else this.#log.warn({ url: this.about }, 'JWKS pre-fetch failed (will retry on demand)')
  }

  /** A fetch for a token whose key is not cached. A running fetch is shared; a new one starts only every 5 s. */
  async #refreshOnDemand(): Promise<void> {
    if (this.#inFlight !== undefined) {
      await this.#inFlight
      return
    }
    const sinceMs = this.#now() - this.#lastOnDemandMs
    // A clock that was set back must not stop fetches for as long as the step.
    if (sinceMs >= 0 && sinceMs < ON_DEMAND_INTERVAL_MS) return
    this.#lastOnDemandMs = this.#now()
    await this.#refresh()
  }

  /** Fetches the set once, or joins the fetch that runs. Tells whether it succeeded; never rejects. */
  #refresh(): Promise<boolean> {
    this.#inFlight ??= this.#load().finally(() => {
      this.#inFlight = undefined
    })
    return this.#inFlight
  }

  async #load(): Promise<boolean> {
    try {
      const entries: unknown = await this.#client.getKeys()
      this.#replace(readJwkSet(Array.isArray(entries) ? entries : [], this.#options.kinds))
      return true
    } catch (error) {
      if (this.#abort.signal.aborted) return false
      const reason = error instanceof FetchError ? error.code : 'unexpected'
      const detail = error instanceof Error ? error.message : String(error)
      const fields = { source: this.about, reason, detail, keysKept: this.size }
      this.#log.warn(fields, 'JWKS fetch failed, the keys at hand stay in use')
      return false
    }
  }

  #replace(set: KeySet): void {
    if (set.keys.length === 0) {
      this.#log.error({ source: this.about }, 'JWKS document holds no usable key')
    }
    this.#loadedAtMs = this.#now()
    const changed = set.fingerprint !== this.#set?.fingerprint
    this.#set = set
    if (changed) for (const listener of this.#listeners) listener()
  }

  async #fetchDocument(url: string): Promise<{ keys: unknown[] }> {
    const document = await fetchJson(url, {
      timeoutMs: this.#options.timeoutMs,
      maxBytes: MAX_KEY_SET_BYTES,
      signal: this.#abort.signal,
    })
    if (typeof document === 'object' && document !== null && 'keys' in document) {
      if (Array.isArray(document.keys)) return { keys: document.keys }
    }
    throw new FetchError('malformed', 'the document has no "keys" array')
  }
}

/** A URL fit for logs: user name, password, query and fragment may hold secrets. */
function withoutSecrets(url: string): string {
  const { protocol, host, pathname } = new URL(url)
  return `${protocol}//${host}${pathname}`
}
