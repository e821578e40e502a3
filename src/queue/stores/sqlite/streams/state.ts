import type { DatabaseSync } from 'node:sqlite'
import { freshId } from '../../../message-id.ts'
import type {
  RegisterOutcome,
  StateOp,
  StateRow,
  StreamReads,
  StreamWrites,
} from '../../../store-streams.ts'
import { windowEndOf } from '../../window-end.ts'
import { change, query } from '../rows.ts'

/** A registered query as cycles need it. */
export interface StreamQuery {
  readonly id: number
  readonly sourceQueue: string
}

/** Registrations and state, on the writing connection. */
export function stateWriter(db: DatabaseSync) {
  const byName = query<{ id: number; uuid: string; config_hash: string }>(
    db,
    'SELECT id, uuid, config_hash FROM stream_query WHERE name = ?',
  )
  const byUuid = query<{ id: number; source_queue: string }>(
    db,
    'SELECT id, source_queue FROM stream_query WHERE uuid = ?',
  )
  const insert = change(
    db,
    `INSERT INTO stream_query
       (uuid, name, source_queue, sink_queue, config_hash, created_at, updated_at)
     VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?6)`,
  )
  const update = change(
    db,
    `UPDATE stream_query SET source_queue = ?, sink_queue = ?, config_hash = ?, updated_at = ?
     WHERE id = ?`,
  )
  const clear = change(db, 'DELETE FROM stream_state WHERE query_id = ?')
  const upsert = change(
    db,
    `INSERT INTO stream_state (query_id, partition_uuid, key, value, window_end, updated_at)
     VALUES (?1, ?2, ?3, ?4, ?5, ?6)
     ON CONFLICT (query_id, partition_uuid, key)
       DO UPDATE SET value = ?4, window_end = ?5, updated_at = ?6`,
  )
  const remove = change(
    db,
    'DELETE FROM stream_state WHERE query_id = ? AND partition_uuid = ? AND key = ?',
  )

  return {
    /** Queue API 15.1: a reset acts only when the hash differs. */
    registerQuery(args: StreamWrites['registerQuery']['args']): RegisterOutcome {
      const { name, sourceQueue, sinkQueue, configHash, reset, nowUs } = args
      const known = byName.one(name)
      if (known === undefined) {
        const queryId = freshId(Math.floor(nowUs / 1000))
        insert(queryId, name, sourceQueue, sinkQueue, configHash, nowUs)
        return { result: 'registered', queryId, fresh: true, reset: false }
      }
      const { id, uuid: queryId } = known
      const changed = known.config_hash !== configHash
      if (changed && !reset) return { result: 'hash_mismatch', queryId }
      if (changed) clear(id)
      update(sourceQueue, sinkQueue, configHash, nowUs, id)
      return { result: 'registered', queryId, fresh: false, reset: changed }
    },

    find(queryId: string): StreamQuery | undefined {
      const row = byUuid.one(queryId)
      return row && { id: row.id, sourceQueue: row.source_queue }
    },

    /** Applies one change of state; deleting a missing key is fine. */
    apply(queryId: number, partitionId: string, change: StateOp, nowUs: number): void {
      if (change.type === 'delete') {
        remove(queryId, partitionId, change.key)
        return
      }
      const { key, value } = change
      upsert(queryId, partitionId, key, value, windowEndOf(value), nowUs)
    },
  }
}

/** Reads of state. */
export function stateReader(db: DatabaseSync) {
  const rows = query<{ key: string; value: string; updated_at: number }>(
    db,
    `SELECT s.key, s.value, s.updated_at
     FROM stream_query q JOIN stream_state s ON s.query_id = q.id
     WHERE q.uuid = ?1 AND s.partition_uuid = ?2
       AND (?3 IS NULL OR s.key IN (SELECT value FROM json_each(?3)))
       AND (?4 IS NULL OR substr(s.key, 1, length(?4)) = ?4)
       AND (?5 IS NULL OR s.window_end <= ?5)
     ORDER BY s.key`,
  )
  return {
    streamState(args: StreamReads['streamState']['args']): readonly StateRow[] {
      const { queryId, partitionId, keys, keyPrefix, ripeAtOrBefore } = args
      const list = keys === null || keys.length === 0 ? null : JSON.stringify(keys)
      const prefix = keyPrefix === null || keyPrefix === '' ? null : keyPrefix
      return rows
        .all(queryId, partitionId, list, prefix, ripeAtOrBefore)
        .map((row) => ({ key: row.key, value: row.value, updatedAtUs: row.updated_at }))
    },
  }
}
