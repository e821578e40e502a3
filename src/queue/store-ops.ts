import type { Gauge, QueueColumn, QueueFigures, Spread } from './metrics/columns.ts'
import type { MetricsBatch, ProcessIdentity } from './metrics/recorder.ts'
import type { JsonText, QueueOptions } from './model.ts'
import type { ConsumerMode, MessageDetail, MessageFilter, MessageRow } from './store-messages.ts'

export type * from './store-messages.ts'

/** One event in the life of a message. */
export interface TraceRow {
  readonly id: string
  readonly eventType: string
  readonly data: JsonText
  readonly group: string
  readonly workerId: string | null
  readonly createdAtUs: number
  readonly names: readonly string[]
}

/** The same with the message it belongs to; `payload` is null when that is no longer stored. */
export interface NamedTraceRow extends TraceRow {
  readonly transactionId: string
  readonly partitionId: string
  readonly queue: string | null
  readonly partition: string | null
  readonly payload: JsonText | null
}

/** One trace name in use. */
export interface TraceNameRow {
  readonly name: string
  readonly traces: number
  readonly messages: number
  readonly lastSeenUs: number
}

/** A pushed item that push maintenance has put into the buffer. Queue API 13.1. */
export interface BufferedPush {
  readonly status: 'buffered'
  readonly transactionId: string
  /** The message keeps it when it is replayed. */
  readonly messageId: string
  /** The partition may not exist yet. */
  readonly partitionId: null
}

/** The buffer of push maintenance. */
export interface BufferState {
  readonly pending: number
  /** Pushes that could not be replayed; they stay for inspection. */
  readonly failed: number
  readonly oldestUs: number | null
}

/** The span of a series and the width of its buckets, in ms. */
export interface SeriesSpan {
  readonly fromMs: number
  readonly toMs: number
  readonly bucketMs: number
}

/** Figures of one queue, as one process counted them, in one bucket. */
export interface QueuePoint {
  readonly bucketMs: number
  readonly queue: string
  readonly hostname: string
  readonly workerId: string
  readonly figures: QueueFigures
}

/** Samples of one process in one bucket. */
export interface ProcessPoint {
  readonly bucketMs: number
  readonly process: ProcessIdentity
  readonly samples: number
  readonly gauges: Readonly<Record<Gauge, Spread>>
}

/** The writes behind the operator's routes: arguments and result. */
export interface OpsWrites {
  /** `traceId` null: no such message. Queue API 10.4. */
  addTrace: {
    args: {
      readonly partitionId: string
      readonly transactionId: string
      readonly group: string
      readonly names: readonly string[]
      readonly eventType: string
      readonly workerId: string | null
      readonly data: JsonText
      readonly nowUs: number
    }
    result: { readonly traceId: string | null }
  }
  /** Removes a message and its dead letters; order and cursors of the rest are untouched. Queue API 10.3. */
  deleteMessage: {
    args: {
      readonly partitionId: string
      readonly transactionId: string
      readonly nowUs: number
    }
    result: { readonly deleted: boolean }
  }
  /**
   * Moves up to `limit` buffered pushes into their partitions, in arrival order; moving and leaving the
   * buffer are one step, so that none is lost or doubled. Does nothing while push maintenance is on.
   */
  drainBuffer: {
    args: { readonly limit: number; readonly nowUs: number }
    result: { readonly moved: number; readonly left: number }
  }
  /** Sets the first buffered push aside, because it cannot be replayed. */
  skipBuffered: { args: { readonly nowUs: number }; result: { readonly skipped: boolean } }
  /** Adds to what the interval holds already. */
  recordMetrics: { args: MetricsBatch; result: { readonly rows: number } }
  /** Removes up to `limit` intervals that began before `beforeMs`, and traces whose message is gone. */
  pruneHistory: {
    args: { readonly beforeMs: number; readonly limit: number }
    result: { readonly deleted: number }
  }
}

/** The reads behind the operator's routes: arguments and result. */
export interface OpsReads {
  /** Newest first; `total` = all that match. */
  messages: {
    args: MessageFilter
    result: {
      readonly rows: readonly MessageRow[]
      readonly total: number
      readonly mode: ConsumerMode
    }
  }
  /** null: no such message. */
  message: {
    args: {
      readonly partitionId: string
      readonly transactionId: string
      readonly nowUs: number
    }
    result: MessageDetail | null
  }
  /** Oldest first; an unknown message has none. */
  messageTraces: {
    args: { readonly partitionId: string; readonly transactionId: string }
    result: readonly TraceRow[]
  }
  /** Newest first. */
  tracesByName: {
    args: {
      readonly name: string
      readonly fromUs: number | null
      readonly toUs: number | null
      readonly limit: number
      readonly offset: number
    }
    result: { readonly rows: readonly NamedTraceRow[]; readonly total: number }
  }
  /** The most recently seen first. */
  traceNames: {
    args: { readonly limit: number; readonly offset: number }
    result: { readonly rows: readonly TraceNameRow[]; readonly total: number }
  }
  buffer: { args: null; result: BufferState }
  /** Partitions of every queue by its name. */
  partitionCounts: { args: null; result: ReadonlyMap<string, number> }
  /** When the oldest message of each queue that nobody consumes was made, in µs; by the queue's name. */
  oldestUnread: { args: null; result: ReadonlyMap<string, number> }
  /** null: no such queue. */
  queueOptions: { args: { readonly queue: string }; result: QueueOptions | null }
  /** Oldest bucket first; null filters match all. */
  queueSeries: {
    args: SeriesSpan & {
      readonly queue: string | null
      readonly namespace: string | null
      readonly task: string | null
      /** False adds all queues up, into points whose queue is empty: many queues then cost no more than one. */
      readonly byQueue: boolean
    }
    result: readonly QueuePoint[]
  }
  /** Oldest bucket first. */
  processSeries: { args: SeriesSpan; result: readonly ProcessPoint[] }
  /** Sums over all queues, processes and time. */
  metricTotals: { args: null; result: Readonly<Record<QueueColumn, number>> }
}
