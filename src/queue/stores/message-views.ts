import type { PayloadCipher } from '../cipher.ts'
import { type ConsumerView, type PartitionView, statusAt } from '../message-status.ts'
import { QUEUE_MODE } from '../model.ts'
import type { MessageConsumer, MessageRow } from '../store.ts'

/** How far one group is on one partition, with the end of its live lease. */
export interface Consumer extends ConsumerView {
  readonly group: string
  readonly leaseUntilUs: number | null
  readonly retryCount: number
}

/** The columns of a stored message that its row is made of. */
export interface StoredColumns {
  readonly position: number
  readonly id: string
  readonly transaction_id: string
  readonly trace_id: string | null
  readonly producer_sub: string | null
  readonly created_at: number
  readonly payload: string
}

/** What the messages of a partition share in an answer. */
export interface MessageOrigin {
  readonly uuid: string
  readonly name: string
  readonly queue: string
  readonly namespace: string
  readonly task: string
  readonly priority: number
}

/** What a message's row says beyond its own columns. */
export interface MessageSetting {
  readonly origin: MessageOrigin
  readonly consumers: readonly Consumer[]
  /** A dead letter of it exists. */
  readonly dead: boolean
  readonly encrypted: boolean
}

/** Splits the consumers the way the status rules want them. */
export function viewOf(consumers: readonly Consumer[]): PartitionView {
  return {
    queueMode: consumers.find(({ group }) => group === QUEUE_MODE) ?? null,
    groups: consumers.filter(({ group }) => group !== QUEUE_MODE),
  }
}

/** When the last live lease that holds a position ends. */
function leaseEndOf(consumers: readonly Consumer[], position: number): number | null {
  const ends = consumers
    .filter(({ position: at, leaseEnd }) => at < position && position <= (leaseEnd ?? 0))
    .map(({ leaseUntilUs }) => leaseUntilUs ?? 0)
  return ends.length === 0 ? null : Math.max(...ends)
}

/** A stored message as the browser of messages shows it. Queue API 10.1. */
export function messageRow(
  stored: StoredColumns,
  { origin, consumers, dead, encrypted }: MessageSetting,
  cipher: PayloadCipher,
): MessageRow {
  const view = viewOf(consumers)
  const groups = consumers.filter((consumer) => consumer !== view.queueMode)
  const { position } = stored
  return {
    id: stored.id,
    transactionId: stored.transaction_id,
    traceId: stored.trace_id,
    partitionId: origin.uuid,
    queue: origin.queue,
    partition: origin.name,
    namespace: origin.namespace,
    task: origin.task,
    priority: origin.priority,
    producerSub: stored.producer_sub,
    createdAtUs: stored.created_at,
    payload: encrypted ? cipher.open(stored.payload) : stored.payload,
    encrypted,
    status: statusAt(view, position, dead),
    queueStatus: statusAt({ queueMode: view.queueMode, groups: [] }, position, dead),
    consumedBy: groups.filter((consumer) => position <= consumer.position).length,
    totalGroups: groups.length,
    leaseExpiresAtUs: leaseEndOf(consumers, position),
  }
}

/** How each consumer stands to a position. Queue API 10.2. */
export function consumersAt(
  consumers: readonly Consumer[],
  position: number,
): readonly MessageConsumer[] {
  return consumers.map((consumer) => ({
    group: consumer.group,
    consumed: position <= consumer.position,
    leaseExpiresAtUs: leaseEndOf([consumer], position),
  }))
}

/** The error and the retries of a message: those of its newest dead letter, else of who is behind it. */
export function failuresAt(
  consumers: readonly Consumer[],
  position: number,
  dead: { readonly error: string | null; readonly retry_count: number } | undefined,
): { readonly errorMessage: string | null; readonly retryCount: number } {
  if (dead !== undefined) {
    return { errorMessage: dead.error ?? 'Retries exhausted', retryCount: dead.retry_count }
  }
  const behind = consumers.filter((consumer) => consumer.position < position)
  return {
    errorMessage: null,
    retryCount: Math.max(0, ...behind.map(({ retryCount }) => retryCount)),
  }
}
