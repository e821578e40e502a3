import type { QueueFigures, Sample, SampledMinute } from './columns.ts'
import { GaugeRun, joinMinutes } from './gauges.ts'
import { addFigures, noFigures, OTHER_QUEUES, Tally } from './tally.ts'

/** Who a row of metrics belongs to. */
export interface ProcessIdentity {
  readonly hostname: string
  readonly workerId: string
  readonly port: number
}

/** What one process has to add to one interval; the store adds it to what the interval holds already. */
export interface MetricsBatch {
  readonly process: ProcessIdentity
  /** Start of the interval in ms since 1970. */
  readonly atMs: number
  readonly queues: readonly (readonly [name: string, figures: QueueFigures])[]
  readonly sampled: SampledMinute | null
}

/** The last interval that is complete. */
export interface FinishedInterval {
  /** When it ended, in ms since 1970. */
  readonly endedMs: number
  readonly queues: ReadonlyMap<string, QueueFigures>
  readonly sampled: SampledMinute | undefined
}

/** What a recorder needs. */
export interface RecorderParts {
  readonly clock: { now(): number }
  readonly process: ProcessIdentity
  /** Length of an interval in ms; metrics are stored per interval. */
  readonly intervalMs: number
  readonly sample: () => Sample
  /** Queues whose figures since the start are kept apart; the rest is added up. */
  readonly maxQueues: number
  readonly store: (batch: MetricsBatch) => Promise<unknown>
}

/** The figures of one interval while it runs. */
class RunningInterval {
  readonly startMs: number
  readonly queues = new Map<string, ReturnType<typeof noFigures>>()
  sampled: SampledMinute | undefined

  constructor(startMs: number) {
    this.startMs = startMs
  }

  add(queues: ReadonlyMap<string, QueueFigures>, sampled: SampledMinute | undefined): void {
    for (const [name, figures] of queues) {
      const row = this.queues.get(name) ?? noFigures()
      addFigures(row, figures)
      this.queues.set(name, row)
    }
    if (sampled === undefined) return
    this.sampled = this.sampled === undefined ? sampled : joinMinutes(this.sampled, sampled)
  }
}

/**
 * Counts, samples and hands both to the store once per interval, and before every reading of the history,
 * so that an answer holds all that has happened. A store that is down costs nothing but the history: the
 * figures wait here, bounded by the number of queues.
 */
export class MetricsRecorder {
  readonly tally = new Tally()
  readonly #parts: RecorderParts
  readonly #run = new GaugeRun()
  /** What the store has not taken yet. */
  readonly #owed = new Tally()
  readonly #lifetime = new Map<string, ReturnType<typeof noFigures>>()
  #current: RunningInterval
  #finished: FinishedInterval | undefined
  #timer: NodeJS.Timeout | undefined
  /** The last storing, done or not: a reading must not overtake one that is under way. */
  #storing: Promise<unknown> = Promise.resolve()

  constructor(parts: RecorderParts) {
    this.#parts = parts
    this.#current = new RunningInterval(this.#startOfNow())
  }

  /** The last complete interval; undefined before the first has ended. */
  get finished(): FinishedInterval | undefined {
    return this.#finished
  }

  /** What was counted since the start and has been flushed, by queue; the first that came have a row. */
  get lifetime(): ReadonlyMap<string, QueueFigures> {
    return this.#lifetime
  }

  /** Samples every `everyMs` until `stop`; failures of the store are told to `onError`. */
  start(everyMs: number, onError: (error: unknown) => void): void {
    this.#run.add(this.#parts.sample())
    this.#timer = setInterval(() => void this.tick().catch(onError), everyMs)
    this.#timer.unref()
  }

  /** Ends the sampling and stores what is left. */
  async stop(): Promise<void> {
    clearInterval(this.#timer)
    await this.flush()
  }

  /** Takes one sample and, when an interval has ended, stores it. @throws what the store threw */
  async tick(): Promise<void> {
    this.#run.add(this.#parts.sample())
    if (this.#startOfNow() !== this.#current.startMs) await this.flush()
  }

  /** Stores everything counted so far. @throws what the store threw; no count is lost then */
  flush(): Promise<void> {
    const storing = this.#storing.then(() => this.#flush())
    this.#storing = storing.catch(() => {})
    return storing
  }

  async #flush(): Promise<void> {
    const counted = this.tally.take()
    const sampled = this.#run.take()
    const interval = this.#current
    interval.add(counted, sampled)
    this.#addToLifetime(counted)
    this.#turn()
    this.#owed.putBack(counted)
    const queues = this.#owed.take()
    if (queues.size === 0 && sampled === undefined) return
    try {
      await this.#parts.store({
        process: this.#parts.process,
        atMs: interval.startMs,
        queues: [...queues],
        sampled: sampled ?? null,
      })
    } catch (error) {
      this.#owed.putBack(queues)
      throw error
    }
  }

  /** Begins a new interval when the running one is over. */
  #turn(): void {
    const startMs = this.#startOfNow()
    const { queues, sampled, startMs: began } = this.#current
    if (startMs === began) return
    this.#finished = { endedMs: began + this.#parts.intervalMs, queues, sampled }
    this.#current = new RunningInterval(startMs)
  }

  #addToLifetime(counted: ReadonlyMap<string, QueueFigures>): void {
    for (const [queue, figures] of counted) {
      const room = this.#lifetime.has(queue) || this.#lifetime.size < this.#parts.maxQueues
      const name = room ? queue : OTHER_QUEUES
      const row = this.#lifetime.get(name) ?? noFigures()
      addFigures(row, figures)
      this.#lifetime.set(name, row)
    }
  }

  #startOfNow(): number {
    const { clock, intervalMs } = this.#parts
    return Math.floor(clock.now() / intervalMs) * intervalMs
  }
}
