import type { DatabaseSync } from 'node:sqlite'
import type { PayloadCipher } from '../../../cipher.ts'
import type { DlqFilter, DlqRow, Reads } from '../../../store.ts'
import { query, type Value } from '../rows.ts'

interface Columns {
  readonly uuid: string
  readonly message_id: string
  readonly transaction_id: string
  readonly partition_uuid: string
  readonly queue: string
  readonly partition_name: string
  readonly group_name: string
  readonly error: string | null
  readonly retry_count: number
  readonly payload: string
  readonly producer_sub: string | null
  readonly created_at: number
  readonly failed_at: number
  readonly encrypted: number
}

const COLUMNS = `d.uuid, d.message_id, d.transaction_id, d.partition_uuid, q.name AS queue,
  d.partition_name, d.group_name, d.error, d.retry_count, d.payload, d.producer_sub, d.created_at,
  d.failed_at, d.encrypted`
const FROM = 'FROM dead_letter d JOIN queue q ON q.id = d.queue_id AND q.deleted = 0'

/** One condition per filter that is set, so that the index that fits is used. */
const CONDITIONS: readonly (readonly [keyof DlqFilter, string])[] = [
  ['queue', 'q.name = ?'],
  ['group', 'd.group_name = ?'],
  ['partition', 'd.partition_name = ?'],
  ['fromUs', 'd.failed_at >= ?'],
  ['toUs', 'd.failed_at <= ?'],
]

/** The dead-letter list. Queue API 8.1. */
export function listDeadLetters(
  db: DatabaseSync,
  cipher: PayloadCipher,
  filter: DlqFilter,
): Reads['dlq']['result'] {
  const wanted = CONDITIONS.filter(([name]) => filter[name] !== null)
  const values: readonly Value[] = wanted.map(([name]) => filter[name])
  const where = wanted.length === 0 ? '' : `WHERE ${wanted.map(([, sql]) => sql).join(' AND ')}`
  const total = query<{ n: number }>(db, `SELECT count(*) AS n ${FROM} ${where}`).one(...values)
  const rows = query<Columns>(
    db,
    `SELECT ${COLUMNS} ${FROM} ${where} ORDER BY d.failed_at DESC, d.id DESC LIMIT ? OFFSET ?`,
  ).all(...values, filter.limit, filter.offset)
  return { rows: rows.map((row) => dlqRow(row, cipher)), total: total?.n ?? 0 }
}

function dlqRow(row: Columns, cipher: PayloadCipher): DlqRow {
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
    payload: row.encrypted === 1 ? cipher.open(row.payload) : row.payload,
    producerSub: row.producer_sub,
    createdAtUs: row.created_at,
    failedAtUs: row.failed_at,
    encrypted: row.encrypted === 1,
  }
}
