import type { QueueConfig } from '../config/index.ts'
import type { Logger } from '../http/index.ts'
import type { QueueEngine } from './engine/index.ts'
import type { JobName } from './store.ts'

/** Empty partitions are looked for once an hour; the age at which they go is in days. */
const CLEANUP_INTERVAL_MS = 3_600_000

/** Jobs that follow each other at one interval. */
interface Round {
  readonly jobs: readonly JobName[]
  readonly everyMs: number
}

/** Queue API 16. Without an interval of its own, eviction runs with retention (section 4). */
function roundsOf(config: QueueConfig): readonly Round[] {
  const { retentionIntervalMs, evictionIntervalMs } = config
  const own = evictionIntervalMs > 0
  const withRetention: readonly JobName[] = own ? [] : ['eviction']
  return [
    {
      jobs: ['retention', 'completedRetention', ...withRetention, 'purge'],
      everyMs: retentionIntervalMs,
    },
    ...(own ? [{ jobs: ['eviction'] as const, everyMs: evictionIntervalMs }] : []),
    { jobs: ['partitionCleanup'], everyMs: CLEANUP_INTERVAL_MS },
  ]
}

/** Running background jobs. */
export interface Jobs {
  /** Starts no more; resolves when what runs has ended, which it does at its next small step once the engine drains. */
  stop(): Promise<void>
}

/**
 * Runs the background jobs of queue API 16 by the clock of the process. A round waits for the one before it, so
 * that a slow store is never asked for the same work twice; a failure is logged and the next round tries again.
 * Every process on a store does this; the store lets one of them have each round.
 */
export function startJobs(engine: QueueEngine, config: QueueConfig, log: Logger): Jobs {
  let open = true
  let running = Promise.resolve()
  const run = async (job: JobName, everyMs: number) => {
    if (!open) return
    try {
      const deleted = await engine.runJob(job, everyMs)
      if (deleted > 0) log.debug({ job, deleted }, 'background job')
    } catch (error) {
      if (open) log.warn({ err: error, job }, 'background job failed')
    }
  }
  const timers = roundsOf(config).map(({ jobs, everyMs }) => {
    let busy = false
    const round = async () => {
      for (const job of jobs) await run(job, everyMs)
      busy = false
    }
    return setInterval(() => {
      if (busy) return
      busy = true
      running = Promise.all([running, round()]).then(() => {})
    }, everyMs)
  })
  return {
    stop() {
      open = false
      for (const timer of timers) clearInterval(timer)
      return running
    },
  }
}
