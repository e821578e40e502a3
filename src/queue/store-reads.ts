import type { JsonText } from './model.ts'
import type { FlagName } from './store-shapes.ts'

/** Message counts of queue API 9; all integers. */
export interface Counts {
  /** Stored. */
  readonly total: number
  /** Not yet consumed by the view furthest behind. */
  readonly pending: number
  /** Inside live leases. */
  readonly processing: number
  readonly completed: number
  /** Failures reported so far by acks. */
  readonly failed: number
  /** Rows in the dead-letter queue. */
  readonly deadLetter: number
}

export interface QueueRow {
  readonly id: string
  readonly name: string
  readonly namespace: string
  readonly task: string
  readonly priority: number
  readonly createdAtUs: number
  readonly partitions: number
  readonly counts: Counts
}

export interface PartitionRow {
  readonly id: string
  readonly name: string
  readonly queue: string
  readonly createdAtUs: number
  readonly counts: Counts
  readonly oldestMessageUs: number | null
  readonly newestMessageUs: number | null
  /** Over all groups: messages and batches consumed, and when last. */
  readonly totalConsumed: number
  readonly batchesConsumed: number
  readonly lastConsumedAtUs: number | null
}

/** Sums over the queues of one namespace or task. */
export interface LabelRow {
  readonly label: string
  readonly queues: number
  readonly partitions: number
  readonly total: number
  readonly pending: number
}

/** Smallest, largest, middle and mean of a set of figures; zeros for an empty one. */
export interface Spread {
  readonly avg: number
  readonly median: number
  readonly min: number
  readonly max: number
}

export interface OverviewFigures {
  readonly queues: number
  readonly partitions: number
  readonly namespaces: number
  readonly tasks: number
  readonly counts: Counts
  /** Per (queue, group): age of the oldest unconsumed message in seconds. */
  readonly timeLag: Spread
  /** Per (queue, group): unconsumed messages. */
  readonly offsetLag: Spread
}

/** One (group, queue). Queue API 7.2. */
export interface GroupRow {
  readonly group: string
  readonly queue: string
  /** Partitions with a cursor. */
  readonly members: number
  readonly partitionsWithLag: number
  readonly totalLag: number
  readonly maxTimeLagSeconds: number
  readonly subscriptionMode: string | null
  readonly subscriptionFromUs: number | null
  readonly subscribedAtUs: number | null
}

/** One partition of a group. Queue API 7.3 and 7.4. */
export interface CursorRow {
  readonly group: string
  readonly queue: string
  readonly partition: string
  readonly partitionId: string
  readonly totalConsumed: number
  readonly offsetLag: number
  readonly timeLagSeconds: number
  readonly leaseActive: boolean
  readonly oldestUnconsumedUs: number | null
  readonly lastConsumedAtUs: number | null
}

/** Queue API 8.1; absent filters are null, `fromUs` and `toUs` are inclusive. */
export interface DlqFilter {
  readonly queue: string | null
  readonly group: string | null
  readonly partition: string | null
  readonly fromUs: number | null
  readonly toUs: number | null
  readonly limit: number
  readonly offset: number
}

export interface DlqRow {
  readonly id: string
  readonly messageId: string
  readonly transactionId: string
  readonly partitionId: string
  readonly queue: string
  readonly partition: string
  readonly group: string
  readonly error: string | null
  readonly retryCount: number
  /** Decrypted; the stored envelope when that fails. */
  readonly payload: JsonText
  readonly producerSub: string | null
  readonly createdAtUs: number
  readonly failedAtUs: number
  readonly encrypted: boolean
}

/** The stored figures behind queue API 11.1; null filters match all. */
export interface StatusFigures {
  readonly queues: readonly (Pick<QueueRow, 'id' | 'name' | 'namespace' | 'task' | 'partitions'> & {
    readonly totalConsumed: number
  })[]
  readonly counts: Counts
  readonly leases: {
    readonly active: number
    readonly partitionsWithLeases: number
    /** Messages in live leases that are not acked yet. */
    readonly totalBatchSize: number
    readonly totalAcked: number
  }
  readonly deadLetters: {
    readonly totalMessages: number
    readonly affectedPartitions: number
    readonly topErrors: readonly { readonly error: string; readonly count: number }[]
  }
}

/** Stored figures of one queue for metrics. */
export interface QueueCounters {
  readonly queue: string
  readonly counts: Counts
  /** Messages stored since the queue was made. */
  readonly pushed: number
  readonly groups: readonly {
    readonly group: string
    readonly lag: number
    readonly consumed: number
  }[]
}

/** Which part of a list is wanted; null filters match all. */
export interface ListFilter {
  readonly namespace: string | null
  readonly task: string | null
  /** Part of the queue's name. */
  readonly search: string | null
  /** null = all. */
  readonly limit: number | null
  readonly offset: number
  readonly nowUs: number
}

/** The reads of the core queue: arguments and result. */
export interface CoreReads {
  /** Newest first. */
  queues: {
    args: ListFilter
    result: { readonly rows: readonly QueueRow[]; readonly total: number }
  }
  /** null: no such queue. Partitions in the order of their making. */
  queueDetail: {
    args: { readonly queue: string; readonly nowUs: number }
    result: { readonly queue: QueueRow; readonly partitions: readonly PartitionRow[] } | null
  }
  /** Unconsumed messages of one group; null: no such queue. */
  depth: {
    args: { readonly queue: string; readonly group: string; readonly nowUs: number }
    result: { readonly pending: number } | null
  }
  namespaces: { args: { readonly nowUs: number }; result: readonly LabelRow[] }
  tasks: { args: { readonly nowUs: number }; result: readonly LabelRow[] }
  overview: { args: { readonly nowUs: number }; result: OverviewFigures }
  partitions: {
    args: {
      readonly queue: string | null
      readonly limit: number
      readonly offset: number
      readonly nowUs: number
    }
    result: { readonly rows: readonly PartitionRow[]; readonly total: number }
  }
  groups: { args: { readonly nowUs: number }; result: readonly GroupRow[] }
  /** Largest lag first; strictly above the limit. */
  lagging: {
    args: { readonly minLagSeconds: number; readonly nowUs: number }
    result: readonly CursorRow[]
  }
  /** Every partition with a cursor of the group. */
  groupDetail: {
    args: { readonly group: string; readonly nowUs: number }
    result: readonly CursorRow[]
  }
  /** Newest failure first; `total` = all rows that match. */
  dlq: { args: DlqFilter; result: { readonly rows: readonly DlqRow[]; readonly total: number } }
  status: {
    args: {
      readonly queue: string | null
      readonly namespace: string | null
      readonly task: string | null
      readonly nowUs: number
    }
    result: StatusFigures
  }
  counters: { args: { readonly nowUs: number }; result: readonly QueueCounters[] }
  flags: { args: null; result: Readonly<Record<FlagName, boolean>> }
}
