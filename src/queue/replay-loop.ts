import { Backoff, StoreError, sqlState } from '../storage/index.ts'

/** Pause while the store is away, and while it holds pushes back. */
const AWAY_MS = 250
/** Pauses after a failure that is no outage: something has to be mended first. */
const FIRST_PAUSE_MS = 1000
const LONGEST_PAUSE_MS = 30_000

/** SQLSTATE classes that blame the data: data exception, constraint, limit exceeded, raised by a function. */
const BAD_DATA = /^(22|23|54|P0)/

/** True when an error tells that the store is away, or too busy. */
function isAway(error: unknown): boolean {
  return error instanceof StoreError && error.status === 503
}

/** True when the store works and refuses just this: waiting would not help. */
function isRefusal(error: unknown): boolean {
  if (isAway(error)) return false
  const state = sqlState(error)
  return state === undefined || BAD_DATA.test(state)
}

/**
 * Tries something, and something else when the store refuses it for good.
 * @throws as `attempt` when the store is away or otherwise unwell; as `refused`
 */
export async function unlessRefused<T>(
  attempt: () => Promise<T>,
  refused: (error: unknown) => Promise<T>,
): Promise<T> {
  try {
    return await attempt()
  } catch (error) {
    if (!isRefusal(error)) throw error
    return refused(error)
  }
}

/** What one step of a replay came to. `held`: not now, though nothing is wrong. */
export type ReplayStep = 'more' | 'done' | 'held'

/** Steps of a replay, one after the other until all is done; after a failure again, with pauses. */
export class ReplayLoop {
  readonly #step: () => Promise<ReplayStep>
  readonly #onError: (error: unknown) => void
  readonly #pause = new Backoff(FIRST_PAUSE_MS, LONGEST_PAUSE_MS)
  #running: Promise<void> | undefined
  #again = false
  #stopped = false
  #state: 'well' | 'away' | 'failing' = 'well'
  #retry: NodeJS.Timeout | undefined

  /** `onError` hears of every failed step, of an outage only once. */
  constructor(step: () => Promise<ReplayStep>, onError: (error: unknown) => void) {
    this.#step = step
    this.#onError = onError
  }

  /** True while the last step found the store away. */
  get away(): boolean {
    return this.#state === 'away'
  }

  /** True while the last step failed though the store is not away. */
  get failing(): boolean {
    return this.#state === 'failing'
  }

  /** Starts, or makes a running replay look once more; returns at once. In a pause that has to end first. */
  kick(): void {
    this.#again = true
    if (this.#stopped || this.#retry !== undefined) return
    this.#running ??= this.#run().finally(() => {
      this.#running = undefined
    })
  }

  /** Ends after the step in flight. */
  async stop(): Promise<void> {
    this.#stopped = true
    clearTimeout(this.#retry)
    await this.#running
  }

  async #run(): Promise<void> {
    while (this.#again && !this.#stopped && this.#retry === undefined) {
      this.#again = false
      const pauseMs = await this.#toTheEnd()
      if (pauseMs !== undefined) this.#tryLater(pauseMs)
    }
  }

  #tryLater(pauseMs: number): void {
    if (this.#stopped) return
    this.#retry = setTimeout(() => {
      this.#retry = undefined
      this.kick()
    }, pauseMs)
    this.#retry.unref()
  }

  /** How long to wait before the next try; undefined when all is done. */
  async #toTheEnd(): Promise<number | undefined> {
    try {
      while (!this.#stopped) {
        const came = await this.#step()
        this.#state = 'well'
        this.#pause.reset()
        if (came !== 'more') return came === 'held' ? AWAY_MS : undefined
      }
      return undefined
    } catch (error) {
      const away = isAway(error)
      if (!(away && this.away)) this.#onError(error)
      this.#state = away ? 'away' : 'failing'
      return away ? AWAY_MS : this.#pause.next()
    }
  }
}
