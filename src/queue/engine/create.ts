import type { OperationsConfig, QueueConfig } from '../../config/index.ts'
import type { BatchReport } from '../../storage/index.ts'
import { freshId } from '../message-id.ts'
import { type OpenedSpill, OutageSpill } from '../spill/index.ts'
import type { JobName, PushItem, QueueStore, ReadKind, Reads, Writes } from '../store.ts'
import type { PushReply, QueueEngine, SideWriteKind, TransactionReply, WithoutNow } from './api.ts'
import { Counts } from './counts.ts'
import { BufferDrainer } from './drainer.ts'
import { followNeighbours } from './neighbours.ts'
import { type EngineObserver, NO_OBSERVER } from './observer.ts'
import { Polls } from './polls.ts'
import { Stepper } from './steps.ts'
import { takeUp } from './take-up.ts'
import { Writer } from './writer.ts'

const DAY_US = 86_400_000_000
const MAX_PARKED_POPS = 10_000

/** What an engine is made of. */
export interface QueueEngineOptions {
  readonly store: QueueStore
  readonly config: Pick<
    QueueConfig,
    'defaultSubscriptionMode' | 'retentionBatchSize' | 'partitionCleanupDays'
  > &
    Partial<Pick<OperationsConfig, 'maxWaitingWrites' | 'maxWaitingBytes' | 'maxParkedPops'>>
  /** Current time in ms since 1970. */
  readonly clock?: { now(): number }
  readonly observer?: EngineObserver
  /** Told of every commit; for metrics. */
  readonly onBatch?: (report: BatchReport) => void
  /** Told when a buffered push could not be replayed. */
  readonly onDrainError?: (error: unknown) => void
  /** Where pushes wait while a store is away that can be; the engine closes it, also when it cannot be made. */
  readonly spill?: OpenedSpill | undefined
}

/** The parts of one engine. */
interface Parts {
  readonly options: QueueEngineOptions
  readonly writer: Writer
  readonly polls: Polls
  readonly steps: Stepper
  readonly counts: Counts
  readonly drainer: BufferDrainer
  readonly spill: OutageSpill | undefined
  readonly observer: EngineObserver
  readonly nowUs: () => number
}

function partsOf(options: QueueEngineOptions): Parts {
  const { store, config, clock = Date, observer = NO_OBSERVER, onBatch } = options
  const now = () => clock.now()
  const nowUs = () => Math.floor(clock.now() * 1000)
  const writer = new Writer({
    store,
    maxWaitingWrites: config.maxWaitingWrites,
    maxWaitingBytes: config.maxWaitingBytes,
    onBatch,
    onWakes: (wakes) => polls.wake(wakes),
    onNotes: (notes) => observer.noted(notes),
    onFailure: () => observer.storeFailed(),
  })
  const polls: Polls = new Polls({
    writer,
    now,
    defaultSubscriptionMode: config.defaultSubscriptionMode,
    maxParkedPops: config.maxParkedPops ?? MAX_PARKED_POPS,
  })
  const steps = new Stepper(writer, nowUs)
  const drainer = new BufferDrainer(
    // The kind decides the arguments, which only lack the time.
    (kind, args) => writer.write(kind, { ...args, nowUs: nowUs() } as Writes[typeof kind]['args']),
    options.onDrainError ?? (() => {}),
  )
  const spill = spillOf(options, { polls, observer, nowUs })
  return { options, writer, polls, steps, counts: new Counts(now), drainer, spill, observer, nowUs }
}

function spillOf(
  { spill, store: { replay }, onDrainError = () => {} }: QueueEngineOptions,
  { polls, observer, nowUs }: Pick<Parts, 'polls' | 'observer' | 'nowUs'>,
): OutageSpill | undefined {
  if (spill === undefined || replay === undefined) return undefined
  return new OutageSpill(spill, {
    ...{ replay, nowUs, onError: onDrainError },
    onWakes: (wakes) => polls.wake(wakes),
    onNotes: (notes) => observer.noted(notes),
  })
}

/** The data plane: push, pop, ack, lease, transaction. */
function dataPlane({ writer, polls, counts, spill, observer, nowUs }: Parts) {
  const pushDirectly = async (items: readonly PushItem[], producerSub: string | null) => {
    const results = await writer.write('push', { items, producerSub, nowUs: nowUs() })
    return results.map((result): PushReply => ({ ...result, error: null }))
  }
  return {
    async push(items, producerSub) {
      if (items.length === 0) return []
      const replies =
        spill === undefined
          ? await pushDirectly(items, producerSub)
          : await spill.push(items, producerSub, (named) => pushDirectly(named, producerSub))
      counts.pushed(replies)
      observer.pushed(items, replies)
      return replies
    },
    async pop(request, signal) {
      const reply = await polls.pop(request, signal)
      counts.popped(reply)
      observer.popped(request, reply)
      return reply
    },
    giveBack: (group, reply) => polls.giveBack(group, reply),
    async ack(group, items) {
      if (items.length === 0) return []
      const results = await writer.write('ack', { group, items, nowUs: nowUs() })
      counts.acked(items, results)
      observer.acked(items, results)
      return results
    },
    extend: (leaseId, seconds) => writer.write('extend', { leaseId, seconds, nowUs: nowUs() }),
    async transaction(operations, requiredLeases, producerSub) {
      const args = { operations, requiredLeases, producerSub, nowUs: nowUs() }
      const outcome = await writer.write('transaction', args)
      const id = freshId(Math.floor(args.nowUs / 1000))
      const reply: TransactionReply = outcome.success
        ? { id, success: true, error: null, results: outcome.results }
        : { id, success: false, error: outcome.error, results: [] }
      counts.transacted(operations, reply)
      observer.transacted(operations, reply)
      return reply
    },
  } satisfies Partial<QueueEngine>
}

/** Queues, groups and dead letters as a whole. */
function management({ writer, steps, nowUs }: Parts) {
  return {
    configure: (args) => writer.write('configure', { ...args, nowUs: nowUs() }),
    deleteQueue: (queue) => writer.write('deleteQueue', { queue, nowUs: nowUs() }),
    clearQueue: (queue, partition) => steps.clear({ queue, partition }),
    deleteGroup: (group, queue, deleteMetadata) =>
      writer.write('deleteGroup', { group, queue, deleteMetadata, nowUs: nowUs() }),
    updateSubscription: (group, startAtUs) =>
      writer.write('updateSubscription', { group, startAtUs, nowUs: nowUs() }),
    seek: (group, queue, partition, target) => steps.seek({ group, queue, partition, target }),
    deleteDlq: (queue, group) => writer.write('deleteDlq', { queue, group }),
    replayDlq: (by, queue, partition) =>
      writer.write('replayDlq', { by, queue, partition, nowUs: nowUs() }),
    moveToDlq: (partitionId, transactionId, group, error) =>
      writer.write('moveToDlq', { partitionId, transactionId, group, error, nowUs: nowUs() }),
  } satisfies Partial<QueueEngine>
}

/** Reads, switches and the end. */
function operation({ options, writer, polls, steps, counts, drainer, spill, nowUs }: Parts) {
  const { store, config } = options
  let open = true
  const read = <K extends ReadKind>(
    kind: K,
    args: WithoutNow<Reads[K]['args']>,
  ): Promise<Reads[K]['result']> => {
    // The store takes the time where its arguments have one and ignores it elsewhere.
    const timed = args === null ? args : { ...args, nowUs: nowUs() }
    return store.read(kind, timed as Reads[K]['args'])
  }
  const runJob = (job: JobName, everyMs?: number): Promise<number> =>
    steps.job(job, {
      limit: config.retentionBatchSize,
      idleUs: config.partitionCleanupDays * DAY_US,
      everyUs: everyMs === undefined ? null : everyMs * 1000,
      goOn: () => open,
    })
  const drain = async (): Promise<void> => {
    open = false
    polls.drain()
    await drainer.stop()
    await spill?.stop()
    await writer.drain()
  }
  return {
    read,
    drain,
    flags: () => store.read('flags', null),
    async setFlag(name, value) {
      await writer.write('setFlag', { name, value, nowUs: nowUs() })
      if (name === 'popMaintenance') polls.paused = value
      if (name === 'pushMaintenance' && !value) drainer.kick()
    },
    parked: () => polls.parkedByQueue(),
    wake: (queue) => polls.wakeQueue(queue),
    runJob,
    counters: () => ({
      ...counts.total,
      storeErrors: writer.errors,
      parked: polls.parked,
      pendingWrites: writer.pending,
    }),
    rates: () => counts.rates(),
    spilled: () => spill?.state(),
    ping: () => store.ping(),
    async close() {
      await drain()
      await writer.close().finally(() => spill?.close())
      await store.close()
    },
  } satisfies Partial<QueueEngine>
}

/** Writes that are no part of the core queue. */
function sidePlane({ writer, observer, nowUs }: Parts) {
  return {
    async write<K extends SideWriteKind>(kind: K, args: WithoutNow<Writes[K]['args']>) {
      const op = { kind, args: { ...args, nowUs: nowUs() } as Writes[K]['args'] }
      const result = await writer.write(kind, op.args)
      if (kind === 'cycle')
        observer.cycled(op.args as Writes['cycle']['args'], result as Writes['cycle']['result'])
      return result
    },
  } satisfies Partial<QueueEngine>
}

/**
 * Makes the engine on an open store and reads the stored switches. The store stays open when that fails.
 * @throws StoreError when the store does not answer
 */
export async function createQueueEngine(options: QueueEngineOptions): Promise<QueueEngine> {
  const parts = partsOf(options)
  const { store } = options
  await takeUp({ ...parts, store })
  const leave = followNeighbours({ store, polls: parts.polls, drainer: parts.drainer })
  const ended = operation(parts)
  return {
    ...dataPlane(parts),
    ...management(parts),
    ...sidePlane(parts),
    ...ended,
    async close() {
      leave()
      await ended.close()
    },
  }
}
