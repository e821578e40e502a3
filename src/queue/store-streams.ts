import type { JsonText } from './model.ts'
import type { PushItem, PushResult } from './store-shapes.ts'

/** What became of a registration. Queue API 15.1. */
export type RegisterOutcome =
  | {
      readonly result: 'registered'
      readonly queryId: string
      readonly fresh: boolean
      readonly reset: boolean
    }
  | { readonly result: 'hash_mismatch'; readonly queryId: string }

/** One change of the state of a (query, partition). */
export type StateOp =
  | { readonly type: 'upsert'; readonly key: string; readonly value: JsonText }
  | { readonly type: 'delete'; readonly key: string }

/** The source ack of a cycle. Queue API 15.3. */
export interface CycleAck {
  readonly transactionId: string
  /** null = no lease check. */
  readonly leaseId: string | null
  /** `failed` releases the lease and moves nothing. */
  readonly status: 'completed' | 'failed'
  /** Messages that the ack stands for; only for figures. */
  readonly count: number
}

/** One atomic step of a stream on one source partition. */
export interface CycleArgs {
  readonly queryId: string
  readonly partitionId: string
  readonly group: string
  readonly stateOps: readonly StateOp[]
  readonly pushItems: readonly PushItem[]
  /** null: an idle flush; cursor and lease stay as they are. */
  readonly ack: CycleAck | null
  readonly releaseLease: boolean
  readonly producerSub: string | null
  readonly nowUs: number
}

/** What a cycle did; on failure nothing of it remains. */
export type CycleOutcome =
  | {
      readonly success: true
      readonly queueName: string | null
      readonly pushes: readonly PushResult[]
      readonly leaseReleased: boolean
    }
  | { readonly success: false; readonly queueName: string | null; readonly error: string }

/** One row of stream state. */
export interface StateRow {
  readonly key: string
  readonly value: JsonText
  readonly updatedAtUs: number
}

/** The writes of streams: arguments and result. */
export interface StreamWrites {
  registerQuery: {
    args: {
      readonly name: string
      readonly sourceQueue: string
      readonly sinkQueue: string | null
      readonly configHash: string
      readonly reset: boolean
      readonly nowUs: number
    }
    result: RegisterOutcome
  }
  cycle: { args: CycleArgs; result: CycleOutcome }
}

/** The reads of streams: arguments and result. */
export interface StreamReads {
  /** Ordered by key; filters are ANDed, null = none. */
  streamState: {
    args: {
      readonly queryId: string
      readonly partitionId: string
      readonly keys: readonly string[] | null
      readonly keyPrefix: string | null
      /** ms since 1970: only objects whose numeric `windowEnd` is not above it. */
      readonly ripeAtOrBefore: number | null
    }
    result: readonly StateRow[]
  }
}
