import type { JobName } from '../store.ts'

/** Jobs that run together, one after the other. */
export interface Round {
  readonly jobs: readonly JobName[]
  /** Time from the end of one round to the start of the next. */
  readonly intervalMs: number
}

/** Empty partitions are looked for in days of age: once an hour is often enough. */
const CLEANUP_INTERVAL_MS = 3_600_000

/** The rounds of queue API 16; eviction has its own interval or goes with retention. */
export function roundsOf(settings: {
  readonly retentionIntervalMs: number
  readonly evictionIntervalMs: number
}): readonly Round[] {
  const { retentionIntervalMs, evictionIntervalMs } = settings
  const together: readonly JobName[] = ['retention', 'completedRetention', 'purge']
  const cleanup: Round = { jobs: ['partitionCleanup'], intervalMs: CLEANUP_INTERVAL_MS }
  if (evictionIntervalMs === 0) {
    return [{ jobs: [...together, 'eviction'], intervalMs: retentionIntervalMs }, cleanup]
  }
  return [
    { jobs: together, intervalMs: retentionIntervalMs },
    { jobs: ['eviction'], intervalMs: evictionIntervalMs },
    cleanup,
  ]
}

/** Runs jobs at their intervals until it is stopped; a job that fails is tried again next time. */
export class Schedule {
  readonly #run: (job: JobName) => Promise<unknown>
  readonly #onError: (job: JobName, error: unknown) => void
  readonly #timers = new Set<NodeJS.Timeout>()
  readonly #running = new Set<Promise<void>>()
  #stopped = false

  constructor(
    run: (job: JobName) => Promise<unknown>,
    onError: (job: JobName, error: unknown) => void,
  ) {
    this.#run = run
    this.#onError = onError
  }

  start(rounds: readonly Round[]): void {
    for (const round of rounds) this.#plan(round)
  }

  /** No more rounds; resolves when the jobs at work have paused. */
  async stop(): Promise<void> {
    this.#stopped = true
    for (const timer of this.#timers) clearTimeout(timer)
    await Promise.all(this.#running)
  }

  #plan(round: Round): void {
    if (this.#stopped) return
    const timer = setTimeout(() => {
      this.#timers.delete(timer)
      const done = this.#play(round).finally(() => {
        this.#running.delete(done)
        this.#plan(round)
      })
      this.#running.add(done)
    }, round.intervalMs)
    // A program that has nothing else to do may end.
    timer.unref()
    this.#timers.add(timer)
  }

  async #play({ jobs }: Round): Promise<void> {
    for (const job of jobs) {
      if (this.#stopped) return
      try {
        await this.#run(job)
      } catch (error) {
        this.#onError(job, error)
      }
    }
  }
}
