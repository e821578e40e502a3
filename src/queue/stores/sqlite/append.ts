import { markOf } from '../../message-id.ts'
import { DEFAULT_OPTIONS, type JsonText, labelsOf } from '../../model.ts'
import type { PushItem, PushResult } from '../../store.ts'
import type { KeptMessage } from '../buffer-rows.ts'
import type { Context } from './context.ts'
import { query } from './rows.ts'
import type { PartitionState, QueueState } from './state.ts'
import { SECOND_US } from './state.ts'
import type { SubscriptionTable } from './subscriptions.ts'

/** Partitions that got messages, and the position of the first new one of each. */
type Touched = Map<PartitionState, number>

interface First {
  readonly id: string
  readonly created_at: number
}

/** A message that is on its way for the first time. */
interface NewMessage {
  readonly item: PushItem
  readonly producerSub: string | null
}

/** The later of the moments at which a delay and a window let a partition be popped; 0 = at once. */
export function maturesAtUs(
  queue: QueueState,
  firstCreatedAtUs: number,
  newestCreatedAtUs: number,
): number {
  const { delayedProcessing, windowBuffer } = queue.options
  const delayed = delayedProcessing > 0 ? firstCreatedAtUs + delayedProcessing * SECOND_US : 0
  const windowed = windowBuffer > 0 ? newestCreatedAtUs + windowBuffer * SECOND_US : 0
  return Math.max(delayed, windowed)
}

/** Appends messages to partitions: the part of a write that pushes, transactions and replays share. */
export class Appender {
  readonly #context: Context
  readonly #subscriptions: SubscriptionTable
  readonly #stored
  readonly #ghost

  constructor(context: Context, subscriptions: SubscriptionTable) {
    this.#context = context
    this.#subscriptions = subscriptions
    this.#stored = query<First>(
      context.db,
      // Left alone the planner walks the partition from its end, because that gives the order.
      `SELECT id, created_at FROM message INDEXED BY message_transaction
       WHERE partition_id = ? AND transaction_id = ? AND position >= ?
       ORDER BY position DESC LIMIT 1`,
    )
    this.#ghost = query<First>(
      context.db,
      `SELECT message_id AS id, created_at FROM ghost
       WHERE partition_id = ? AND transaction_id = ? AND expires_at > ?`,
    )
  }

  /** The queue, made as a push makes it if it does not exist. Queue API 3.1. */
  queue(item: Pick<PushItem, 'queue' | 'namespace' | 'task'>, nowUs: number): QueueState {
    const { queues } = this.#context
    const known = queues.byName(item.queue)
    if (known !== undefined) return known
    const labels = labelsOf(item.queue)
    const namespace = item.namespace ?? labels.namespace
    const task = item.task ?? labels.task
    const made = { name: item.queue, namespace, task, options: DEFAULT_OPTIONS }
    const queue = queues.create(made, nowUs)
    // Pops by namespace or task that wait must meet the new queue.
    this.#context.wake(queue, null)
    return queue
  }

  /** The partition, made on first use; every group gets its cursor on it. */
  partition(queue: QueueState, name: string, nowUs: number): PartitionState {
    const { partitions, tally } = this.#context
    const known = partitions.find(queue, name)
    if (known !== undefined) return known
    const made = partitions.create(queue, name, nowUs)
    tally.queue(queue.id, 'partitions', 1)
    this.#context.note(queue, 'partitionsCreated')
    this.#subscriptions.welcome(made)
    return made
  }

  /** Stores the items in order; a known transaction id stores nothing. Queue API 5.2. */
  append(items: readonly PushItem[], producerSub: string | null, nowUs: number): PushResult[] {
    const touched: Touched = new Map()
    const results = items.map((item) => this.#one({ item, producerSub }, nowUs, touched))
    for (const [partition, position] of touched) this.#announce(partition, position, nowUs)
    return results
  }

  /** Stores messages that were diverted, as they are, with the normal duplicate check. Queue API 13.1. */
  replay(messages: readonly KeptMessage[], nowUs: number): void {
    const touched: Touched = new Map()
    for (const message of messages) this.#one(message, nowUs, touched)
    for (const [partition, position] of touched) this.#announce(partition, position, nowUs)
  }

  /** A payload as it is kept: encrypted when the queue of that name wants it and there is a key. */
  sealed(queueName: string, payload: JsonText): { encrypted: boolean; payload: JsonText } {
    const { cipher, queues } = this.#context
    const encrypted = cipher.enabled && queues.byName(queueName)?.options.encryptionEnabled === true
    return { encrypted, payload: encrypted ? cipher.seal(payload) : payload }
  }

  #one(message: NewMessage | KeptMessage, nowUs: number, touched: Touched): PushResult {
    const { item } = message
    const partition = this.partition(this.queue(item, nowUs), item.partition, nowUs)
    const first = this.#firstOf(partition, item.transactionId, nowUs)
    if (first !== undefined) {
      const transactionId = item.transactionId ?? first.id
      return {
        status: 'duplicate',
        transactionId,
        messageId: first.id,
        partitionId: partition.uuid,
      }
    }
    if (!touched.has(partition)) touched.set(partition, partition.next)
    const messageId = this.#store(partition, message, nowUs)
    const transactionId = item.transactionId ?? messageId
    return { status: 'queued', transactionId, messageId, partitionId: partition.uuid }
  }

  /** The message that already bears the transaction id inside the duplicate window. Queue API 3.5. */
  #firstOf(
    partition: PartitionState,
    transactionId: string | null,
    nowUs: number,
  ): First | undefined {
    const { queue } = partition
    const windowUs = queue.options.dedupWindowSeconds * SECOND_US
    // An id that the broker is about to make cannot be there yet.
    if (transactionId === null || windowUs <= 0) return undefined
    const ghostly = queue.ghostsUntilUs > nowUs
    const first =
      this.#stored.one(partition.id, transactionId, partition.head) ??
      (ghostly ? this.#ghost.one(partition.id, transactionId, nowUs) : undefined)
    return first !== undefined && first.created_at > nowUs - windowUs ? first : undefined
  }

  #store(partition: PartitionState, message: NewMessage | KeptMessage, nowUs: number): string {
    const { ids, messages, tally } = this.#context
    const { queue } = partition
    const { item, producerSub } = message
    const createdAtUs = Math.max(this.#context.stamp(nowUs), partition.stampUs + 1)
    const kept = 'id' in message
    const { encrypted, payload } = kept
      ? { ...message, payload: item.payload }
      : this.sealed(queue.name, item.payload)
    const id = kept ? message.id : ids.nextOf(partition.mark, createdAtUs)
    messages.insert(
      partition.id,
      partition.next,
      id,
      item.transactionId ?? id,
      item.traceId,
      producerSub,
      createdAtUs,
      encrypted ? 1 : 0,
      payload,
    )
    partition.next += 1
    partition.stampUs = createdAtUs
    if (kept) this.#raiseMark(partition, id)
    tally.queue(queue.id, 'pushed', 1)
    tally.queue(queue.id, 'stored', 1)
    return id
  }

  /** Later ids must rise above a kept one; a kept one may also be below what a transaction stored meanwhile. */
  #raiseMark(partition: PartitionState, id: string): void {
    const { ms, seq } = markOf(id)
    const { mark } = partition
    if (ms > mark.ms || (ms === mark.ms && seq > mark.seq)) {
      mark.ms = ms
      mark.seq = seq
      return
    }
    this.#context.partitions.saveTrim(partition)
  }

  /** Enters the partition into the ready-list of every group that had nothing to deliver on it. */
  #announce(partition: PartitionState, firstPosition: number, nowUs: number): void {
    if (partition.allReady) return
    const { cursors, messages } = this.#context
    const { queue } = partition
    const firstUs = messages.firstFrom(partition, firstPosition)?.created_at ?? nowUs
    const atUs = Math.max(nowUs, maturesAtUs(queue, firstUs, partition.stampUs))
    const changed = cursors.markReady(atUs, partition.id)
    partition.allReady = true
    if (changed > 0) this.#context.wake(queue, atUs > nowUs ? atUs : null)
  }
}
