import type { Statements } from '../../../../storage/index.ts'
import type { Reads } from '../../../store.ts'
import { DLQ_COLUMNS, type DlqColumns, dlqRow } from '../../dead-letter-rows.ts'
import type { StoreContext } from '../handler.ts'
import { conditions } from './conditions.ts'

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
  const rows = await db.rows<DlqColumns>(
    `dlq_${where.key}`,
    `SELECT ${DLQ_COLUMNS} ${FROM} WHERE ${where.sql}
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
