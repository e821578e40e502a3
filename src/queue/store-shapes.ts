import type { AckStatus, JsonText, Subscription } from './model.ts'

/** One message to be stored. */
export interface PushItem {
  readonly queue: string
  readonly partition: string
  readonly payload: JsonText
  /** null: the message id becomes the transaction id. */
  readonly transactionId: string | null
  readonly traceId: string | null
  /** Used only when this push creates the queue; null = from the queue's name. Queue API 3.1. */
  readonly namespace: string | null
  readonly task: string | null
}

/** What became of one pushed item. */
export interface PushResult {
  readonly status: 'queued' | 'duplicate'
  readonly transactionId: string
  /** For a duplicate the id of the first message. */
  readonly messageId: string
  readonly partitionId: string
}

/** Which queues a pop looks at. */
export type PopScope =
  | { readonly queue: string; readonly partition: string | null }
  /** null = any; at least one is given, and a queue must match both. */
  | { readonly namespace: string | null; readonly task: string | null }

/** A pop as the store sees it. */
export interface PopArgs {
  readonly scope: PopScope
  readonly group: string
  /** Most messages, over all partitions together; at least 1. */
  readonly batch: number
  /** Most partitions; 0 = no limit. */
  readonly partitions: number
  /** null = the queue's `leaseTime`. */
  readonly leaseSeconds: number | null
  readonly autoAck: boolean
  /** Used at the group's first contact with a queue only. */
  readonly subscription: Subscription
  readonly nowUs: number
}

/** A message as it is delivered. */
export interface PoppedMessage {
  readonly id: string
  readonly transactionId: string
  readonly traceId: string | null
  /** Decrypted JSON text. */
  readonly payload: JsonText
  readonly producerSub: string | null
  readonly createdAtUs: number
}

/** The messages that one pop took from one partition. */
export interface Claim {
  readonly queue: string
  readonly partition: string
  readonly partitionId: string
  /** Failures of this partition and group so far. */
  readonly retryCount: number
  /** The span that was taken: positions above `after`, up to and with `upTo`. */
  readonly after: number
  readonly upTo: number
  readonly messages: readonly PoppedMessage[]
}

export interface PopResult {
  /** Empty when nothing can be delivered now. */
  readonly claims: readonly Claim[]
  /** `''` with autoAck and when nothing was taken. */
  readonly leaseId: string
  /** When nothing was taken: ms since 1970 of the next moment at which it may be otherwise. */
  readonly nextReadyAtMs: number | null
  /** True when nothing was taken yet but the search had to pause; ask again at once. */
  readonly unfinished: boolean
}

/** One acknowledgment, read but not yet resolved to a position. */
export interface AckItem {
  readonly transactionId: string
  readonly partitionId: string
  readonly status: AckStatus
  readonly error: string | null
  /** null = no lease check. */
  readonly leaseId: string | null
}

/** Field for field what queue API 6.1 answers per item. */
export interface AckResult {
  readonly success: boolean
  readonly error: string | null
  readonly leaseReleased: boolean
  readonly dlq: boolean
  readonly noop: boolean
  readonly queueName: string | null
  readonly partitionName: string | null
}

export type TransactionOp =
  | { readonly type: 'push'; readonly item: PushItem }
  | { readonly type: 'ack'; readonly group: string; readonly item: AckItem }

/** One result per operation, in order, or the reason why nothing was done. Queue API 6.4. */
export type TransactionOutcome =
  | { readonly success: true; readonly results: readonly TransactionResult[] }
  | { readonly success: false; readonly error: string }

export type TransactionResult =
  | {
      readonly type: 'push'
      readonly transactionId: string
      readonly messageId: string
      readonly partitionId: string
      readonly queueName: string
      readonly duplicate: boolean
    }
  | { readonly type: 'ack'; readonly transactionId: string; readonly dlq: boolean }

/** Where a seek goes: behind the last message, or to the first one at or after a moment. */
export type SeekTarget = { readonly to: 'end' } | { readonly to: 'time'; readonly atUs: number }

/** Work on many partitions is done in steps, each one write; `next` is the token of the next step. */
export interface Step {
  /** null = from the beginning. */
  readonly after: number | null
  /** Most partitions or rows of this step. */
  readonly limit: number
}

/** The stored flags; they outlive a restart. Queue API 13.1 and 13.2. */
export type FlagName = 'pushMaintenance' | 'popMaintenance'

/** The background jobs of queue API 16; `purge` takes away what was deleted or cleared. */
export type JobName = 'retention' | 'completedRetention' | 'eviction' | 'partitionCleanup' | 'purge'

/** What a replay of a dead letter came to. Queue API 8.3. */
export type ReplayResult =
  | { readonly result: 'gone' }
  | {
      readonly result: 'moved' | 'duplicate'
      readonly queue: string
      readonly partition: string
      readonly consumerGroup: string
      readonly dlqId: string
      readonly originalTransactionId: string
      readonly messageId: string
      readonly transactionId: string
    }
