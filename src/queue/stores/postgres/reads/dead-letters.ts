import type { Statements } from '../../../../storage/index.ts'
import type { PayloadCipher } from '../../../cipher.ts'
import type { DlqRow, Reads } from '../../../store.ts'
import type { StoreContext } from '../handler.ts'
import { conditions } from './conditions.ts'

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
  readonly encrypted: boolean
}

const COLUMNS = `d.uuid, d.message_id, d.transaction_id, d.partition_uuid, q.name AS queue,
  d.partition_name, d.group_name, d.error, d.retry_count, d.payload, d.producer_sub, d.created_at,
  d.failed_at, d.encrypted`
const FROM = `FROM hivegate.dead_letter d
  JOIN hivegate.queue q ON q.id = d.queue_id AND NOT q.deleted`

/** The dead-letter list. Queue API 8.1. */
export async function readDeadLetters(
  db: Statements,
  filter: Reads['dlq']['args'],
  { cipher }: StoreContext,
): Promise<Reads['dlq']['result']> {
  const where = conditions([
    ['q.name = ?', filter.queue],
    ['d.group_name = ?', filter.group],
    ['d.partition_name = ?', filter.partition],
    ['d.failed_at >= ?', filter.fromUs],
    ['d.failed_at <= ?', filter.toUs],
  ])
  const given = where.values.length
  const rows = await db.rows<Columns>(
    `dlq_${where.key}`,
    `SELECT ${COLUMNS} ${FROM} WHERE ${where.sql}
     ORDER BY d.failed_at DESC, d.id DESC LIMIT $${given + 1} OFFSET $${given + 2}`,
    [...where.values, filter.limit, filter.offset],
  )
  const [count] = await db.rows<{ n: number }>(
    `dlq_count_${where.key}`,
    `SELECT count(*) AS n ${FROM} WHERE ${where.sql}`,
    where.values,
  )
  return { rows: rows.map((row) => dlqRow(row, cipher)), total: count?.n ?? 0 }
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
    payload: row.encrypted ? cipher.open(row.payload) : row.payload,
    producerSub: row.producer_sub,
    createdAtUs: row.created_at,
    failedAtUs: row.failed_at,
    encrypted: row.encrypted,
  }
}
