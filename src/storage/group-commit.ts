import { StoreBusyError, StoreClosedError } from './errors.ts'

/** What one finished batch cost; for metrics. */
export interface BatchReport {
  readonly operations: number
  /** From the start of the commit to its answer. */
  readonly durationMs: number
  /** False when the whole batch failed. */
  readonly ok: boolean
}

/** Settings of a batcher. */
export interface GroupCommitOptions<Op, Outcome> {
  /** Commits one batch and answers with one outcome per operation, in order. */
  readonly commit: (batch: readonly Op[]) => Promise<readonly Outcome[]>
  /** Rough size of one operation in bytes; only has to grow with it. */
  readonly sizeOf: (op: Op) => number
  /** Most operations that may wait, and most bytes; above either a new one is refused. */
  readonly maxWaiting?: number
  readonly maxWaitingBytes?: number
  /** Most operations in one batch, so that no transaction holds the others up for long. */
  readonly maxBatch?: number
  /**
   * For a commit that runs in another thread: a batch takes about half of what is under way, so that its callers are
   * busy with one half while the other is committed. Taken all at once, both threads would wait for each other in turn.
   */
  readonly inHalves?: boolean
  readonly onBatch?: (report: BatchReport) => void
}

/** Enough for every connection of a busy broker to have a write waiting. */
const MAX_WAITING = 20_000
/** Four bodies of the largest allowed size. */
const MAX_WAITING_BYTES = 268_435_456
const MAX_BATCH = 1000
/** In halves: below that many the price of one more commit is higher than that of waiting. */
const LEAST_HALF = 8

interface Entry<Op, Outcome> {
  readonly op: Op
  readonly bytes: number
  readonly resolve: (outcome: Outcome) => void
  readonly reject: (error: unknown) => void
}

/**
 * Collects the operations that arrive while a commit is in flight and commits them together, so that
 * durability costs one flush to disk per batch and not per request. The queue in front is bounded:
 * what does not fit is refused at once, what was taken in is never dropped.
 */
export class GroupCommit<Op, Outcome> {
  readonly #options: GroupCommitOptions<Op, Outcome>
  readonly #maxWaiting: number
  readonly #maxWaitingBytes: number
  readonly #maxBatch: number
  #waiting: Entry<Op, Outcome>[] = []
  #waitingBytes = 0
  #inFlight = 0
  /** Operations in the last batch, however long ago: their callers may come again before the next one is done. */
  #before = 0
  #running: Promise<void> | undefined
  #beginNow: (() => void) | undefined
  #closed = false

  constructor(options: GroupCommitOptions<Op, Outcome>) {
    this.#options = options
    this.#maxWaiting = options.maxWaiting ?? MAX_WAITING
    this.#maxWaitingBytes = options.maxWaitingBytes ?? MAX_WAITING_BYTES
    this.#maxBatch = options.maxBatch ?? MAX_BATCH
  }

  /** Operations that have been taken in and not yet answered. */
  get pending(): number {
    return this.#waiting.length + this.#inFlight
  }

  /**
   * Takes one operation into the next batch.
   * @throws StoreBusyError when the queue is full, StoreClosedError after `close`
   */
  submit(op: Op): Promise<Outcome> {
    if (this.#closed) return Promise.reject(new StoreClosedError())
    const bytes = this.#options.sizeOf(op)
    // One operation larger than the whole bound must still get through when nothing else waits.
    const tooMuch = this.#waitingBytes + bytes > this.#maxWaitingBytes && this.#waiting.length > 0
    if (this.#waiting.length >= this.#maxWaiting || tooMuch) {
      return Promise.reject(new StoreBusyError())
    }
    return new Promise<Outcome>((resolve, reject) => {
      this.#waiting.push({ op, bytes, resolve, reject })
      this.#waitingBytes += bytes
      this.#running ??= this.#run()
      if (this.#waiting.length >= this.#enough) this.#beginNow?.()
    })
  }

  /** Resolves when everything taken in so far has been answered. */
  async drain(): Promise<void> {
    while (this.#running !== undefined) await this.#running
  }

  /** Refuses new operations and commits those already taken in. */
  async close(): Promise<void> {
    this.#closed = true
    await this.drain()
  }

  async #run(): Promise<void> {
    // The requests that the event loop reads in this turn go into the first batch, unless it fills before.
    await new Promise<void>((resolve) => {
      this.#beginNow = resolve
      setImmediate(resolve)
    })
    this.#beginNow = undefined
    while (this.#waiting.length > 0) await this.#commitNext()
    this.#running = undefined
  }

  async #commitNext(): Promise<void> {
    const entries = this.#waiting.splice(0, this.#nextSize())
    for (const entry of entries) this.#waitingBytes -= entry.bytes
    this.#inFlight = entries.length
    const startedMs = performance.now()
    const ok = await this.#commit(entries)
    this.#inFlight = 0
    this.#before = entries.length
    const durationMs = performance.now() - startedMs
    this.#options.onBatch?.({ operations: entries.length, durationMs, ok })
  }

  /** So many waiting operations begin a commit although the turn goes on: as many as the last one took. */
  get #enough(): number {
    return this.#options.inHalves === true ? Math.max(this.#before, LEAST_HALF) : Infinity
  }

  #nextSize(): number {
    if (this.#options.inHalves !== true) return this.#maxBatch
    const half = Math.ceil((this.#waiting.length + this.#before) / 2)
    return Math.min(this.#maxBatch, Math.max(half, LEAST_HALF))
  }

  async #commit(entries: readonly Entry<Op, Outcome>[]): Promise<boolean> {
    try {
      const outcomes = await this.#options.commit(entries.map((entry) => entry.op))
      if (outcomes.length !== entries.length) throw new Error('one outcome per operation is needed')
      outcomes.forEach((outcome, i) => {
        entries[i]?.resolve(outcome)
      })
      return true
    } catch (error) {
      for (const entry of entries) entry.reject(error)
      return false
    }
  }
}
