import type { DatabaseSync } from 'node:sqlite'
import { firstIdAt } from '../../../message-id.ts'
import type { OpsWrites } from '../../../store-ops.ts'
import { change, query } from '../rows.ts'
import type { historyWriter } from './history.ts'

interface OldTrace {
  id: string
  partition_id: number
  transaction_id: string
}

/** Takes away what has had its time: old metrics, old traces, and what deleted partitions left behind. */
export function pruner(db: DatabaseSync, history: ReturnType<typeof historyWriter>) {
  const old = query<OldTrace>(
    db,
    'SELECT id, partition_id, transaction_id FROM trace WHERE id < ? ORDER BY id LIMIT ?',
  )
  const orphaned = query<OldTrace>(
    db,
    'SELECT id, partition_id, transaction_id FROM trace WHERE partition_id = ? LIMIT ?',
  )
  const gone = query<{ partition_id: number; uuid: string }>(
    db,
    'SELECT partition_id, uuid FROM gone_partition ORDER BY partition_id LIMIT 100',
  )
  const settle = change(db, 'DELETE FROM gone_partition WHERE partition_id = ?')
  const orphanedState = change(
    db,
    `DELETE FROM stream_state WHERE (query_id, partition_uuid, key) IN
       (SELECT query_id, partition_uuid, key FROM stream_state WHERE partition_uuid = ? LIMIT ?)`,
  )
  const names = query<{ name: string }>(db, 'SELECT name FROM trace_tag WHERE trace_id = ?')
  const dropTrace = change(db, 'DELETE FROM trace WHERE id = ?')
  const dropTags = change(db, 'DELETE FROM trace_tag WHERE trace_id = ?')
  const left = query<{ traces: number }>(
    db,
    `UPDATE trace_name_message SET traces = traces - 1
     WHERE name = ? AND partition_id = ? AND transaction_id = ? RETURNING traces`,
  )
  const dropPair = change(
    db,
    'DELETE FROM trace_name_message WHERE name = ? AND partition_id = ? AND transaction_id = ?',
  )
  const uncount = change(
    db,
    'UPDATE trace_name SET traces = traces - 1, messages = messages - ? WHERE name = ?',
  )
  const dropName = change(db, 'DELETE FROM trace_name WHERE name = ? AND traces <= 0')

  function removeTrace({ id, partition_id, transaction_id }: OldTrace): void {
    for (const { name } of names.all(id)) {
      const last = (left.one(name, partition_id, transaction_id)?.traces ?? 0) <= 0
      if (last) dropPair(name, partition_id, transaction_id)
      uncount(last ? 1 : 0, name)
      dropName(name)
    }
    dropTags(id)
    dropTrace(id)
  }

  function removeOrphans(limit: number): number {
    let removed = 0
    for (const { partition_id: partitionId, uuid } of gone.all()) {
      const traces = orphaned.all(partitionId, limit - removed)
      for (const trace of traces) removeTrace(trace)
      removed += traces.length + orphanedState(uuid, limit - removed)
      if (removed >= limit) return removed
      settle(partitionId)
    }
    return removed
  }

  return (args: OpsWrites['pruneHistory']['args']): OpsWrites['pruneHistory']['result'] => {
    const { beforeMs, limit } = args
    const traces = old.all(firstIdAt(beforeMs), limit)
    for (const trace of traces) removeTrace(trace)
    return { deleted: traces.length + history.prune(beforeMs, limit) + removeOrphans(limit) }
  }
}
