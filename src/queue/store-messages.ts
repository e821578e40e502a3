import type { JsonText, QueueOptions } from './model.ts'

/** What has become of a stored message, by the first rule of queue API 10.1 that matches. */
export type MessageStatus = 'pending' | 'processing' | 'completed' | 'dead_letter'

/** A stored message as the browser of messages shows it. */
export interface MessageRow {
  readonly id: string
  readonly transactionId: string
  readonly traceId: string | null
  readonly partitionId: string
  readonly queue: string
  readonly partition: string
  readonly namespace: string
  readonly task: string
  readonly priority: number
  readonly producerSub: string | null
  readonly createdAtUs: number
  /** Decrypted; the stored envelope when that fails. */
  readonly payload: JsonText
  readonly encrypted: boolean
  readonly status: MessageStatus
  /** The same as the consumers without a group see it. */
  readonly queueStatus: MessageStatus
  /** Named groups that have passed it, and named groups in all. */
  readonly consumedBy: number
  readonly totalGroups: number
  /** When the last of the live leases that hold it ends. */
  readonly leaseExpiresAtUs: number | null
}

/** Who consumes: without a group, by groups, both or nobody yet. Queue API 10.1. */
export interface ConsumerMode {
  readonly hasQueueMode: boolean
  /** Named groups. */
  readonly busGroups: number
}

/** One consumer of a message; the group name is `QUEUE_MODE` for consumers without one. */
export interface MessageConsumer {
  readonly group: string
  readonly consumed: boolean
  readonly leaseExpiresAtUs: number | null
}

/** One message in full. Queue API 10.2. */
export interface MessageDetail {
  readonly message: MessageRow
  readonly consumers: readonly MessageConsumer[]
  /** Of its newest dead letter. */
  readonly errorMessage: string | null
  /** The highest retry count among the consumers that have not passed it. */
  readonly retryCount: number
  readonly options: QueueOptions
}

/** Which messages are wanted; null filters match all, both ends of the span are inclusive. */
export interface MessageFilter {
  readonly queue: string | null
  readonly partition: string | null
  readonly namespace: string | null
  readonly task: string | null
  readonly status: MessageStatus | null
  /** null = no bound. */
  readonly fromUs: number | null
  readonly toUs: number | null
  readonly limit: number
  readonly offset: number
  readonly nowUs: number
}
