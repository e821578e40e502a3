import type { QueueEngine } from '../engine/api.ts'
import type { ProcessPoint, QueuePoint } from '../store-ops.ts'
import type { QueueFigures } from './columns.ts'
import type { MetricsRecorder } from './recorder.ts'
import type { Span } from './span.ts'

const MINUTE_MS = 60_000

/** Which queues a series is about; absent members match all. */
export interface QueueFilter {
  readonly queue?: string | undefined
  readonly namespace?: string | undefined
  readonly task?: string | undefined
}

/** The history of metrics as the routes read it: what has just happened is in it. */
export class History {
  readonly #engine: Pick<QueueEngine, 'read'>
  readonly #recorder: MetricsRecorder

  constructor(engine: Pick<QueueEngine, 'read'>, recorder: MetricsRecorder) {
    this.#engine = engine
    this.#recorder = recorder
  }

  /** Figures by bucket, queue and process, oldest bucket first. */
  async queues(span: Span, filter: QueueFilter = {}): Promise<readonly QueuePoint[]> {
    await this.#upToNow()
    const { queue = null, namespace = null, task = null } = filter
    return this.#engine.read('queueSeries', { ...boundsOf(span), queue, namespace, task })
  }

  /** Samples by bucket and process, oldest bucket first. */
  async processes(span: Span): Promise<readonly ProcessPoint[]> {
    await this.#upToNow()
    return this.#engine.read('processSeries', boundsOf(span))
  }

  /** Sums over all queues, processes and time. */
  async totals(): Promise<QueueFigures> {
    await this.#upToNow()
    return this.#engine.read('metricTotals', null)
  }

  async #upToNow(): Promise<void> {
    // A store that cannot take figures now takes them later; the reading shows what it has.
    await this.#recorder.flush().catch(() => {})
  }
}

function boundsOf({ fromMs, toMs, bucketMinutes }: Span) {
  return { fromMs, toMs, bucketMs: bucketMinutes * MINUTE_MS }
}
