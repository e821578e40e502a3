import type { Tx } from '../../../../storage/index.ts'
import type { StateOp } from '../../../store.ts'
import { windowEndOf } from '../../window-end.ts'

/** Where state goes: to one query and one source partition. */
export interface StatePlace {
  readonly queryId: number
  readonly partitionId: string
  readonly nowUs: number
}

/** Applies changes of state in their order: the last one of a key counts. Deleting a missing key is fine. */
export async function applyState(
  tx: Tx,
  ops: readonly StateOp[],
  place: StatePlace,
): Promise<void> {
  const last = new Map(ops.map((op) => [op.key, op]))
  const kept = [...last.values()].flatMap((op) => (op.type === 'upsert' ? op : []))
  const gone = [...last.values()].flatMap(({ type, key }) => (type === 'delete' ? key : []))
  const { queryId, partitionId, nowUs } = place
  if (gone.length > 0) {
    await tx.rows(
      'state_delete',
      `DELETE FROM hivegate.stream_state
       WHERE query_id = $1 AND partition_uuid = $2 AND key = ANY ($3::text[])`,
      [queryId, partitionId, gone],
    )
  }
  if (kept.length === 0) return
  await tx.rows(
    'state_upsert',
    `INSERT INTO hivegate.stream_state
       (query_id, partition_uuid, key, value, window_end, updated_at)
     SELECT $1, $2, key, value, window_end, $6
     FROM unnest($3::text[], $4::text[], $5::float8[]) o (key, value, window_end)
     ON CONFLICT (query_id, partition_uuid, key) DO UPDATE
       SET value = excluded.value, window_end = excluded.window_end, updated_at = excluded.updated_at`,
    [
      ...[queryId, partitionId],
      kept.map(({ key }) => key),
      kept.map(({ value }) => value),
      kept.map(({ value }) => windowEndOf(value)),
      nowUs,
    ],
  )
}
