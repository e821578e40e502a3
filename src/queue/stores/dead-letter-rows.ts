import type { PayloadCipher } from '../cipher.ts'
import type { DlqRow, PushItem, PushResult, ReplayResult } from '../store.ts'
import { isSet, openedPayload, type SealedColumns } from './stored-flags.ts'

/** What the list of dead letters reads of each, under the names of `DLQ_COLUMNS`. */
export interface DlqColumns extends SealedColumns {
  readonly uuid: string
  readonly message_id: string
  readonly transaction_id: string
  readonly partition_uuid: string
  readonly queue: string
  readonly partition_name: string
  readonly group_name: string
  readonly error: string | null
  readonly retry_count: number
  readonly producer_sub: string | null
  readonly created_at: number
  readonly failed_at: number
}

/** Columns of a dead letter `d` of the queue `q` for the list. */
export const DLQ_COLUMNS = `d.uuid, d.message_id, d.transaction_id, d.partition_uuid,
  q.name AS queue, d.partition_name, d.group_name, d.error, d.retry_count, d.payload,
  d.producer_sub, d.created_at, d.failed_at, d.encrypted`

/** A dead letter as the list shows it. Queue API 8.1. */
export function dlqRow(row: DlqColumns, cipher: PayloadCipher): DlqRow {
  return {
    id: row.uuid,
    messageId: row.message_id,
    transactionId: row.transaction_id,
    partitionId: row.partition_uuid,
    queue: row.queue,
    partition: row.partition_name,
    group: row.group_name,
    error: row.error,
    retryCount: row.retry_count,
    payload: openedPayload(row, cipher),
    producerSub: row.producer_sub,
    createdAtUs: row.created_at,
    failedAtUs: row.failed_at,
    encrypted: isSet(row.encrypted),
  }
}

/** What a replay reads of a dead letter, under the names of `REPLAY_COLUMNS`. */
export interface ReplayColumns extends SealedColumns {
  readonly uuid: string
  readonly queue_id: number
  readonly partition_name: string
  readonly group_name: string
  readonly transaction_id: string
  readonly trace_id: string | null
  readonly producer_sub: string | null
}

/** Columns of a dead letter `d` for a replay. */
export const REPLAY_COLUMNS = `d.uuid, d.queue_id, d.partition_name, d.group_name,
  d.transaction_id, d.trace_id, d.producer_sub, d.encrypted, d.payload`

/** Where a replay pushes to. */
export interface ReplayTarget {
  readonly queue: string
  readonly partition: string
}

/** The push that a replay makes, under a transaction id made of the row's. Queue API 8.3. */
export function replayedItem(
  row: ReplayColumns,
  target: ReplayTarget,
  cipher: PayloadCipher,
): PushItem {
  return {
    ...target,
    payload: openedPayload(row, cipher),
    transactionId: `dlq:${row.uuid}`,
    traceId: row.trace_id,
    namespace: null,
    task: null,
  }
}

/** What a replay answers once its push is in. Queue API 8.3. */
export function replayResult(
  row: ReplayColumns,
  target: ReplayTarget,
  pushed: PushResult,
): ReplayResult {
  return {
    result: pushed.status === 'queued' ? 'moved' : 'duplicate',
    ...target,
    consumerGroup: row.group_name,
    dlqId: row.uuid,
    originalTransactionId: row.transaction_id,
    messageId: pushed.messageId,
    transactionId: pushed.transactionId,
  }
}
