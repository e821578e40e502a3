import type { Statements } from '../../../../storage/index.ts'
import type { Reads, StateRow } from '../../../store.ts'
import { conditions } from './conditions.ts'

/** Rows of state, ordered by key; the filters are ANDed. Queue API 15.2. */
export async function readStreamState(
  db: Statements,
  args: Reads['streamState']['args'],
): Promise<readonly StateRow[]> {
  const keys = args.keys === null || args.keys.length === 0 ? null : args.keys
  const where = conditions([
    ['q.uuid = ?', args.queryId],
    ['s.partition_uuid = ?', args.partitionId],
    ['s.key = ANY(?::text[])', keys],
    ['starts_with(s.key, ?)', args.keyPrefix === '' ? null : args.keyPrefix],
    ['s.window_end <= ?', args.ripeAtOrBefore],
  ])
  const rows = await db.rows<{ key: string; value: string; updated_at: number }>(
    `stream_state_${where.key}`,
    `SELECT s.key, s.value, s.updated_at
     FROM hivegate.stream_query q JOIN hivegate.stream_state s ON s.query_id = q.id
     WHERE ${where.sql} ORDER BY s.key`,
    where.values,
  )
  return rows.map((row) => ({ key: row.key, value: row.value, updatedAtUs: row.updated_at }))
}
