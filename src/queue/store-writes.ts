import type { GivenOptions, QueueOptions } from './model.ts'
import type { BufferedPush } from './store-ops.ts'
import type {
  AckItem,
  AckResult,
  Claim,
  FlagName,
  JobName,
  PopArgs,
  PopResult,
  PushItem,
  PushResult,
  ReplayResult,
  SeekTarget,
  Step,
  TransactionOp,
  TransactionOutcome,
} from './store-shapes.ts'

/** The writes of the core queue: arguments and result. */
export interface CoreWrites {
  /** Creates or changes a queue and its `Default` partition. Queue API 5.1. */
  configure: {
    args: {
      readonly queue: string
      /** null = not given. */
      readonly namespace: string | null
      readonly task: string | null
      readonly options: GivenOptions
      readonly mode: 'merge' | 'replace'
      readonly nowUs: number
    }
    result: {
      readonly queueId: string
      readonly partitionId: string
      readonly namespace: string
      readonly task: string
      readonly options: QueueOptions
    }
  }
  /** Appends messages; check and insert of the transaction id are one step. Queue API 5.2, 3.5. */
  push: {
    args: {
      readonly items: readonly PushItem[]
      readonly producerSub: string | null
      readonly nowUs: number
    }
    /** `buffered` while push maintenance diverts the item. */
    result: readonly (PushResult | BufferedPush)[]
  }
  /** Claims what can be delivered and registers the group at its first contact. Queue API 5.4, 7.1. */
  pop: { args: PopArgs; result: PopResult }
  /** Gives claims back as if they had never been made: for a client that has gone. */
  release: {
    args: {
      readonly group: string
      /** `''` for an autoAck pop, which then steps back if nobody has taken more since. */
      readonly leaseId: string
      readonly claims: readonly Pick<Claim, 'partitionId' | 'after' | 'upTo'>[]
      readonly nowUs: number
    }
    result: { readonly released: number }
  }
  /** Queue API 6.1 and 6.2. */
  ack: {
    args: {
      readonly group: string
      readonly items: readonly AckItem[]
      readonly nowUs: number
    }
    result: readonly AckResult[]
  }
  /** Queue API 6.3; `expiresAtUs` is the earliest expiry among the renewed. */
  extend: {
    args: { readonly leaseId: string; readonly seconds: number; readonly nowUs: number }
    result: { readonly renewed: number; readonly expiresAtUs: number | null }
  }
  /** All or nothing. Queue API 6.4. */
  transaction: {
    args: {
      readonly operations: readonly TransactionOp[]
      readonly requiredLeases: readonly string[]
      readonly producerSub: string | null
      readonly nowUs: number
    }
    result: TransactionOutcome
  }
  /** Takes the queue and all that hangs on it away at once; rows go later. Queue API 9. */
  deleteQueue: {
    args: { readonly queue: string; readonly nowUs: number }
    result: { readonly existed: boolean }
  }
  /** One step of clear. Queue API 9. `found` false: no such queue or partition. */
  clearQueue: {
    args: Step & {
      readonly queue: string
      readonly partition: string | null
      readonly nowUs: number
    }
    result: { readonly found: boolean; readonly deleted: number; readonly next: number | null }
  }
  /** Cursors, leases and retry counts of a group, everywhere or on one queue. Queue API 7.5. */
  deleteGroup: {
    args: {
      readonly group: string
      readonly queue: string | null
      readonly deleteMetadata: boolean
      readonly nowUs: number
    }
    result: { readonly deletedPartitions: number; readonly metadataDeleted: boolean }
  }
  /** Queue API 7.6. */
  updateSubscription: {
    args: { readonly group: string; readonly startAtUs: number; readonly nowUs: number }
    result: { readonly rowsUpdated: number }
  }
  /** One step of a seek. Queue API 7.7, 7.8. `movedTo` = id of the message before the cursor. */
  seek: {
    args: Step & {
      readonly group: string
      readonly queue: string
      /** null = all partitions. */
      readonly partition: string | null
      readonly target: SeekTarget
      readonly nowUs: number
    }
    result: {
      readonly found: boolean
      readonly updated: number
      readonly movedTo: string | null
      readonly next: number | null
    }
  }
  /** Queue API 8.2. */
  deleteDlq: {
    args: { readonly queue: string; readonly group: string | null }
    result: { readonly deleted: number }
  }
  /** Queue API 8.3 by row, 8.4 by address (the newest row of it). null = back to its origin. */
  replayDlq: {
    args: {
      readonly by:
        | { readonly dlqId: string }
        | { readonly partitionId: string; readonly transactionId: string }
      readonly queue: string | null
      readonly partition: string | null
      readonly nowUs: number
    }
    result: ReplayResult
  }
  /** Queue API 8.5. `not_next`: another message is before it, the answer is 409. */
  moveToDlq: {
    args: {
      readonly partitionId: string
      readonly transactionId: string
      readonly group: string
      readonly error: string | null
      readonly nowUs: number
    }
    result:
      | { readonly result: 'moved'; readonly dlqId: string }
      | { readonly result: 'unknown' | 'not_next' }
  }
  setFlag: {
    args: { readonly name: FlagName; readonly value: boolean; readonly nowUs: number }
    result: { readonly value: boolean }
  }
  /** One small step of a background job. `idleUs`: age at which empty partitions go (clean-up only). */
  jobStep: {
    args: Step & {
      readonly job: JobName
      readonly idleUs: number
      /**
       * Time from the start of a round to the next one, over all processes on the store: a first step that
       * comes too early does nothing. null or absent = do it anyway.
       */
      readonly everyUs?: number | null
      readonly nowUs: number
    }
    result: { readonly deleted: number; readonly next: number | null }
  }
}
