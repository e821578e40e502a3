import type { QueueEngine } from '../engine/api.ts'
import type { ProcessPoint, QueuePoint, SeriesSpan } from '../store-ops.ts'
import type { QueueFigures } from './columns.ts'
import type { MetricsRecorder } from './recorder.ts'
import { bucketStart, type Span } from './span.ts'

const MINUTE_MS = 60_000
/** Wider than the time since 1970: everything falls into one bucket. */
const ONE_BUCKET_MS = Number.MAX_SAFE_INTEGER

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
  queues(span: Span, filter: QueueFilter = {}): Promise<readonly QueuePoint[]> {
    return this.#series(boundsOf(span), filter, true)
  }

  /** The same with all queues added up, under the empty name. */
  sums(span: Span, filter: QueueFilter = {}): Promise<readonly QueuePoint[]> {
    return this.#series(boundsOf(span), filter, false)
  }

  /** Each queue over the whole span, without its course: one point for each queue and process. */
  perQueue(span: Span): Promise<readonly QueuePoint[]> {
    return this.#series({ ...boundsOf(span), bucketMs: ONE_BUCKET_MS }, {}, true)
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

  async #series(
    bounds: SeriesSpan,
    filter: QueueFilter,
    byQueue: boolean,
  ): Promise<readonly QueuePoint[]> {
    await this.#upToNow()
    const { queue = null, namespace = null, task = null } = filter
    return this.#engine.read('queueSeries', { ...bounds, queue, namespace, task, byQueue })
  }

  async #upToNow(): Promise<void> {
    // A store that cannot take figures now takes them later; the reading shows what it has.
    await this.#recorder.flush().catch(() => {})
  }
}

/** The bucket that the span begins in is shown whole. */
function boundsOf({ fromMs, toMs, bucketMinutes }: Span): SeriesSpan {
  const bucketMs = bucketMinutes * MINUTE_MS
  return { fromMs: bucketStart(fromMs, bucketMinutes), toMs, bucketMs }
}
