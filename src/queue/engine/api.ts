import type {
  AckItem,
  AckResult,
  Claim,
  FlagName,
  JobName,
  OpsWrites,
  PopScope,
  PushItem,
  ReadKind,
  Reads,
  ReplayResult,
  SeekTarget,
  StreamWrites,
  TransactionOp,
  TransactionResult,
  Writes,
} from '../store.ts'

/** A pop request whose defaults have been filled in. Queue API 5.3. */
export interface PopRequest {
  readonly scope: PopScope
  /** `QUEUE_MODE` when the request names none. */
  readonly group: string
  /** At least 1. */
  readonly batch: number
  /** 0 = no limit; ignored for a single partition. */
  readonly partitions: number
  /** null = the queue's `leaseTime`. */
  readonly leaseSeconds: number | null
  readonly autoAck: boolean
  /** As the query gives it; null when absent. The engine reads the words of queue API 7.1. */
  readonly subscriptionMode: string | null
  readonly subscriptionFrom: string | null
  /** ms to wait for a message; 0 = answer at once. */
  readonly waitMs: number
}

/** Delivered messages; null stands for the empty 204. */
export interface PopReply {
  /** `''` with autoAck. */
  readonly leaseId: string
  readonly claims: readonly Claim[]
}

/** What became of one pushed item. `buffered` comes with push maintenance. */
export interface PushReply {
  readonly status: 'queued' | 'duplicate' | 'failed' | 'buffered'
  readonly transactionId: string
  readonly messageId: string
  readonly partitionId: string | null
  /** Only with `failed`. */
  readonly error: string | null
}

/** `id` names the transaction itself; `error` is null on success. Queue API 6.4. */
export interface TransactionReply {
  readonly id: string
  readonly success: boolean
  readonly error: string | null
  readonly results: readonly TransactionResult[]
}

/** Messages and requests since the start of this process. */
export interface EngineCounters {
  readonly pushRequests: number
  readonly pushMessages: number
  readonly popRequests: number
  readonly popMessages: number
  readonly popEmpty: number
  readonly ackRequests: number
  readonly ackSuccess: number
  readonly ackFailed: number
  readonly transactions: number
  readonly deadLettered: number
  readonly storeErrors: number
  /** Long polls that wait now. */
  readonly parked: number
  /** Writes that were taken in and not yet committed. */
  readonly pendingWrites: number
}

/** A running mean over the last minute. */
export interface Rates {
  readonly pushedPerSecond: number
  readonly poppedPerSecond: number
  readonly ackedPerSecond: number
}

/**
 * The queue without HTTP. Methods reject with StoreBusyError (503, Retry-After) when the store cannot
 * take more, StoreClosedError (503) when it is gone, StoreFailedError (500) for a fault inside it.
 */
export interface QueueEngine {
  configure(
    args: Omit<Writes['configure']['args'], 'nowUs'>,
  ): Promise<Writes['configure']['result']>
  /** Results in the order of the items; an empty list gives an empty list. */
  push(items: readonly PushItem[], producerSub: string | null): Promise<readonly PushReply[]>
  /**
   * Delivers, or waits up to `waitMs`. An aborted signal leaves no lease behind and gives null.
   * @throws PollLimitError (503) when too many polls are parked
   */
  pop(request: PopRequest, signal?: AbortSignal): Promise<PopReply | null>
  /** Takes back a delivery that never reached its client, so that it is not locked for a whole lease time. */
  giveBack(group: string, reply: PopReply): Promise<void>
  ack(group: string, items: readonly AckItem[]): Promise<readonly AckResult[]>
  /** `expiresAtUs` null: no such live lease. */
  extend(leaseId: string, seconds: number): Promise<Writes['extend']['result']>
  transaction(
    operations: readonly TransactionOp[],
    requiredLeases: readonly string[],
    producerSub: string | null,
  ): Promise<TransactionReply>
  deleteQueue(queue: string): Promise<{ readonly existed: boolean }>
  /** null: no such queue or partition. */
  clearQueue(queue: string, partition: string | null): Promise<{ readonly deleted: number } | null>
  /** `queue` null = on all queues. */
  deleteGroup(
    group: string,
    queue: string | null,
    deleteMetadata: boolean,
  ): Promise<Writes['deleteGroup']['result']>
  updateSubscription(group: string, startAtUs: number): Promise<{ readonly rowsUpdated: number }>
  /** `partition` null = all of them. null: no such queue or partition. */
  seek(
    group: string,
    queue: string,
    partition: string | null,
    target: SeekTarget,
  ): Promise<{ readonly updated: number; readonly movedTo: string | null } | null>
  deleteDlq(queue: string, group: string | null): Promise<{ readonly deleted: number }>
  replayDlq(
    by: Writes['replayDlq']['args']['by'],
    queue: string | null,
    partition: string | null,
  ): Promise<ReplayResult>
  moveToDlq(
    partitionId: string,
    transactionId: string,
    group: string,
    error: string | null,
  ): Promise<Writes['moveToDlq']['result']>
  flags(): Promise<Reads['flags']['result']>
  /** Also lets waiting pops go when `popMaintenance` is turned on, and look again when turned off. */
  setFlag(name: FlagName, value: boolean): Promise<void>
  /** Listings and figures, straight from the store; the engine adds the time. */
  read<K extends ReadKind>(kind: K, args: WithoutNow<Reads[K]['args']>): Promise<Reads[K]['result']>
  /** Writes of the operator's side and of streams; the engine adds the time. @throws as the others */
  write<K extends SideWriteKind>(
    kind: K,
    args: WithoutNow<Writes[K]['args']>,
  ): Promise<Writes[K]['result']>
  /** Pops that wait now, by queue; those by namespace or task count together, for the empty name. */
  parked(): ReadonlyMap<string, number>
  /** Lets the waiting pops of a queue look again. Queue API 13.3. */
  wake(queue: string): void
  /**
   * Runs one background job to its end, in small steps; returns the rows it deleted. With an interval, only
   * if no process on the same store has begun a round of it within that time.
   */
  runJob(job: JobName, everyMs?: number): Promise<number>
  counters(): EngineCounters
  rates(): Rates
  /** Pushes that wait in files because the store is away or was; undefined where none ever do. */
  spilled(): SpillState | undefined
  /** Resolves when the store answers. */
  ping(): Promise<void>
  /** Answers all waiting pops with nothing, refuses new waits, and finishes the writes in flight. */
  drain(): Promise<void>
  /** Drains, stops the jobs and closes the store. */
  close(): Promise<void>
}

/** How it stands with a spill. */
export interface SpillState {
  /** Messages that wait. */
  readonly pending: number
  /** What was set aside because it cannot be read or stored. */
  readonly failed: number
  /** The files cannot be read or written, or the store fails though it is there: somebody has to look at the log. */
  readonly stuck: boolean
}

/** Kinds of writes that are no part of the core queue and pass through the engine as they are. */
export type SideWriteKind = keyof OpsWrites | keyof StreamWrites

/** Arguments of a read without the time, which the engine's clock supplies. */
export type WithoutNow<A> = A extends { readonly nowUs: number } ? Omit<A, 'nowUs'> : A
