import { Counter, Histogram, Registry } from 'prom-client'
import type { BatchReport } from '../../storage/index.ts'

/** From one write alone to the largest batch. */
const BATCH_BUCKETS = [1, 2, 5, 10, 25, 50, 100, 250, 500, 1000]
/** From memory speed to a disk in trouble, in seconds. */
const DURATION_BUCKETS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5]

/** What each commit to the store cost, counted as it happens. */
export class CommitMetrics {
  readonly registry = new Registry()
  readonly #operations
  readonly #duration
  readonly #failures

  constructor() {
    const registers = [this.registry]
    this.#operations = new Histogram({
      name: 'hivegate_commit_batch_operations',
      help: 'Writes that one commit took together.',
      buckets: BATCH_BUCKETS,
      registers,
    })
    this.#duration = new Histogram({
      name: 'hivegate_commit_duration_seconds',
      help: 'Time from the start of a commit to its answer.',
      buckets: DURATION_BUCKETS,
      registers,
    })
    this.#failures = new Counter({
      name: 'hivegate_commit_failures_total',
      help: 'Commits that failed as a whole.',
      registers,
    })
  }

  /** Counts one commit. */
  add({ operations, durationMs, ok }: BatchReport): void {
    this.#operations.observe(operations)
    this.#duration.observe(durationMs / 1000)
    if (!ok) this.#failures.inc()
  }
}
