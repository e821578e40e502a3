import type { DatabaseSync } from 'node:sqlite'
import type { PayloadCipher } from '../../../cipher.ts'
import type { DlqFilter, Reads } from '../../../store.ts'
import { DLQ_COLUMNS, type DlqColumns, dlqRow } from '../../dead-letter-rows.ts'
import { query, type Value } from '../rows.ts'

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
  const rows = query<DlqColumns>(
    db,
    `SELECT ${DLQ_COLUMNS} ${FROM} ${where} ORDER BY d.failed_at DESC, d.id DESC LIMIT ? OFFSET ?`,
  ).all(...values, filter.limit, filter.offset)
  return { rows: rows.map((row) => dlqRow(row, cipher)), total: total?.n ?? 0 }
}
