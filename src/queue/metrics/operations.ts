import type { Registry } from 'prom-client'
import type { OperationsConfig } from '../../config/index.ts'
import type { BatchReport } from '../../storage/index.ts'
import type { QueueEngine } from '../engine/api.ts'
import type { EngineObserver } from '../engine/observer.ts'
import type { Sample } from './columns.ts'
import { CommitMetrics } from './commits.ts'
import { History } from './history.ts'
import { Meter } from './meter.ts'
import { ProcessGauges } from './process.ts'
import { prometheusText } from './prometheus.ts'
import { MetricsRecorder, type ProcessIdentity } from './recorder.ts'
import { gather } from './scrape.ts'
import { OTHER_QUEUES } from './tally.ts'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
/** Rows of one step of the history's clean-up. */
const PRUNE_STEP = 1000
/** The embedded store has one connection that writes and one that reads. */
const STORE_CONNECTIONS = 2

/** What the operator's side needs before there is an engine. */
export interface OperationsParts {
  readonly config: OperationsConfig
  readonly clock: { now(): number }
  readonly identity: ProcessIdentity
}

/**
 * The operator's side of one broker: it counts and samples, keeps the history, cleans it up, and writes the
 * text of a scrape. Made first, because the engine reports to it; `attach` gives it the engine.
 */
export class Operations {
  readonly commits = new CommitMetrics()
  readonly recorder: MetricsRecorder
  readonly #parts: OperationsParts
  readonly #meter: Meter
  readonly #gauges = new ProcessGauges()
  #engine: QueueEngine | undefined
  #history: History | undefined
  #latest: Sample | undefined
  #pruning: NodeJS.Timeout | undefined

  constructor(parts: OperationsParts) {
    const { config, clock, identity } = parts
    this.#parts = parts
    this.recorder = new MetricsRecorder({
      clock,
      process: identity,
      intervalMs: config.metricsAggregateIntervalS * 1000,
      maxQueues: config.metricsMaxQueues,
      sample: () => this.#sample(),
      store: async (batch) => this.#engine?.write('recordMetrics', batch),
    })
    this.#meter = new Meter(this.recorder.tally, () => clock.now())
  }

  /** What the engine reports to. */
  get observer(): EngineObserver {
    return this.#meter
  }

  /** What the engine reports each commit to. */
  readonly onBatch = (report: BatchReport): void => this.commits.add(report)

  /** The history of metrics. @throws Error before `attach` */
  get history(): History {
    if (this.#history === undefined) throw new Error('no engine is attached')
    return this.#history
  }

  /** Begins to sample and to clean up; failures are told to `onError` and cost nothing else. */
  attach(engine: QueueEngine, onError: (error: unknown) => void): void {
    this.#engine = engine
    this.#history = new History(engine, this.recorder)
    this.recorder.start(this.#parts.config.metricsSampleIntervalMs, onError)
    this.#pruning = setInterval(() => void this.prune().catch(onError), HOUR_MS)
    this.#pruning.unref()
  }

  /** Removes what is older than `METRICS_RETENTION_DAYS`, in small steps. */
  async prune(): Promise<void> {
    const { clock, config } = this.#parts
    const beforeMs = clock.now() - config.metricsRetentionDays * DAY_MS
    let deleted = 0
    do {
      const step = await this.#engine?.write('pruneHistory', { beforeMs, limit: PRUNE_STEP })
      deleted = step?.deleted ?? 0
    } while (deleted > 0)
  }

  /** The text of a scrape; `more` holds the families of other floors. Queue API 12. */
  async prometheus(more: readonly Registry[]): Promise<string> {
    const { config, clock, identity } = this.#parts
    const engine = this.#engine
    if (engine === undefined) throw new Error('no engine is attached')
    const scrape = await gather(
      {
        engine,
        history: this.history,
        recorder: this.recorder,
        identity,
        clock,
        intervalMs: config.metricsAggregateIntervalS * 1000,
        maxQueues: config.metricsMaxQueues,
        latest: () => this.#latest ?? this.#sample(),
      },
      config.maxWaitingWrites,
    )
    return prometheusText(scrape, [this.commits.registry, ...more])
  }

  /** Stores what is counted and ends; the engine must still be open. */
  async stop(): Promise<void> {
    clearInterval(this.#pruning)
    await this.recorder.stop().catch(() => {})
    this.#gauges.close()
  }

  #sample(): Sample {
    const parked = this.#engine?.parked() ?? new Map<string, number>()
    for (const [queue, pops] of parked) {
      this.recorder.tally.note(queue === '' ? OTHER_QUEUES : queue, 'parked', pops)
    }
    const pendingWrites = this.#engine?.counters().pendingWrites ?? 0
    this.#latest = this.#gauges.sample({
      storeConnections: STORE_CONNECTIONS,
      storeActive: pendingWrites > 0 ? 1 : 0,
      pendingWrites,
      freeSlots: Math.max(0, this.#parts.config.maxWaitingWrites - pendingWrites),
      parkedPops: [...parked.values()].reduce((sum, pops) => sum + pops, 0),
    })
    return this.#latest
  }
}
