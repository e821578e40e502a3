import type { Tx } from '../../../../storage/index.ts'
import { freshId } from '../../../message-id.ts'
import type { StreamWrites } from '../../../store.ts'
import { type Answer, quiet } from '../handler.ts'

type Args = StreamWrites['registerQuery']['args']
type Result = StreamWrites['registerQuery']['result']

interface Known {
  readonly id: number
  readonly uuid: string
  readonly config_hash: string
}

async function insert(tx: Tx, args: Args): Promise<string | undefined> {
  const { name, sourceQueue, sinkQueue, configHash, nowUs } = args
  const [row] = await tx.rows<{ uuid: string }>(
    'stream_register',
    `INSERT INTO hivegate.stream_query
       (uuid, name, source_queue, sink_queue, config_hash, created_at, updated_at)
     VALUES ($1, $2, $3, $4, $5, $6, $6) ON CONFLICT (name) DO NOTHING RETURNING uuid`,
    [freshId(Math.floor(nowUs / 1000)), name, sourceQueue, sinkQueue, configHash, nowUs],
  )
  return row?.uuid
}

/** Makes a query known; a reset acts only when the hash differs. Queue API 15.1. */
export async function registerQuery(tx: Tx, args: Args): Promise<Answer<Result>> {
  const made = await insert(tx, args)
  if (made !== undefined) {
    return quiet({ result: 'registered', queryId: made, fresh: true, reset: false })
  }
  const [known] = await tx.rows<Known>(
    'stream_known',
    'SELECT id, uuid, config_hash FROM hivegate.stream_query WHERE name = $1 FOR UPDATE',
    [args.name],
  )
  // Queries are never removed.
  if (known === undefined) throw new Error('the registration has gone')
  const { id, uuid: queryId } = known
  const changed = known.config_hash !== args.configHash
  if (changed && !args.reset) return quiet({ result: 'hash_mismatch', queryId })
  if (changed) {
    await tx.rows('stream_clear', 'DELETE FROM hivegate.stream_state WHERE query_id = $1', [id])
  }
  await tx.rows(
    'stream_update',
    `UPDATE hivegate.stream_query
     SET source_queue = $2, sink_queue = $3, config_hash = $4, updated_at = $5 WHERE id = $1`,
    [id, args.sourceQueue, args.sinkQueue, args.configHash, args.nowUs],
  )
  return quiet({ result: 'registered', queryId, fresh: false, reset: changed })
}
