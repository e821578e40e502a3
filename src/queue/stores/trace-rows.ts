import type { JsonText } from '../model.ts'
import type { NamedTraceRow, TraceNameRow, TraceRow } from '../store-ops.ts'

/** What a row of `trace` says of an event. */
export interface TraceColumns {
  readonly id: string
  readonly event_type: string
  readonly data: JsonText
  readonly group_name: string
  readonly worker_id: string | null
  readonly created_at: number
}

/** An event as lists show it. Queue API 10.5. */
export function traceRow(row: TraceColumns, names: readonly string[]): TraceRow {
  return {
    id: row.id,
    eventType: row.event_type,
    data: row.data,
    group: row.group_name,
    workerId: row.worker_id,
    createdAtUs: row.created_at,
    names,
  }
}

/** Which message an event belongs to. */
export interface TracedColumns {
  readonly transaction_id: string
  readonly uuid: string
  readonly queue: string
  readonly partition: string
}

/** An event with its message; `payload` is in clear, null when the message is gone. Queue API 10.5. */
export function namedTraceRow(
  event: TraceRow,
  row: TracedColumns,
  payload: JsonText | null,
): NamedTraceRow {
  return {
    ...event,
    transactionId: row.transaction_id,
    partitionId: row.uuid,
    queue: row.queue,
    partition: row.partition,
    payload,
  }
}

/** How often a name was used, and when it was last. */
export interface TraceNameColumns {
  readonly name: string
  readonly traces: number
  readonly messages: number
  readonly last_seen: number
}

/** A name in use. Queue API 10.5. */
export function traceNameRow({ last_seen: lastSeenUs, ...row }: TraceNameColumns): TraceNameRow {
  return { ...row, lastSeenUs }
}
