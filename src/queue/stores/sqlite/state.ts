import type { IdMark } from '../../message-id.ts'
import type { QueueOptions } from '../../model.ts'

/** A live queue as the writing thread remembers it. */
export interface QueueState {
  readonly id: number
  readonly uuid: string
  readonly name: string
  namespace: string
  task: string
  options: QueueOptions
  readonly createdAtUs: number
  ghostsUntilUs: number
  /** By group name. */
  readonly subscriptions: Map<string, SubscriptionState>
}

/** A partition of a live queue. */
export interface PartitionState {
  readonly id: number
  readonly uuid: string
  readonly name: string
  readonly queue: QueueState
  readonly createdAtUs: number
  /** Lowest position that may hold a message. */
  head: number
  holes: number
  /** Position of the next message. */
  next: number
  /** `created_at` of the newest message ever stored. */
  stampUs: number
  readonly mark: IdMark
  /** True when surely no cursor of it has `ready_at` NULL: a push then has no cursor to touch. */
  allReady: boolean
}

/** One group on one queue, by name; `queue` is null while the queue does not exist. */
export interface SubscriptionState {
  readonly id: number
  readonly group: string
  readonly queueName: string
  /** null: not registered by a pop yet. */
  mode: 'all' | 'new' | 'timestamp' | null
  startAtUs: number | null
  bornAfter: number
  sweptTo: number
  sweptAll: boolean
}

/** A row of `cursor`. */
export interface CursorRow {
  partition_id: number
  subscription_id: number
  position: number
  started: number
  lease_id: string | null
  lease_until: number | null
  lease_end: number | null
  lease_left: number
  retry_count: number
  ready_at: number | null
}

/** A row of `message`. */
export interface MessageRow {
  position: number
  id: string
  transaction_id: string
  trace_id: string | null
  producer_sub: string | null
  created_at: number
  encrypted: number
  payload: string
}

/** Whole seconds to microseconds. */
export const SECOND_US = 1_000_000
