import type { Statements, Tx } from '../../../../storage/index.ts'
import type { BufferState, Writes } from '../../../store.ts'
import { type BufferColumns, type BufferedColumns, bufferState, keptOf } from '../../buffer-rows.ts'
import { appendKept } from '../append.ts'
import { type Answer, quiet, type StoreContext } from '../handler.ts'

/** No push goes past or into the buffer, no switch is set and nobody else drains until this is done. */
const TURN = 'SELECT hivegate.enter_buffer_gate(true)'

/** One more than wanted tells whether something is left. */
const FIRST = `SELECT b.* FROM hivegate.buffered_push b
  WHERE NOT b.failed AND NOT EXISTS (SELECT FROM hivegate.flag f
    WHERE f.name = 'pushMaintenance' AND f.value)
  ORDER BY b.seq LIMIT $1::bigint + 1`

const REMOVE = 'DELETE FROM hivegate.buffered_push WHERE seq = ANY($1::bigint[])'

/** One step of the replay; in arrival order, with the normal duplicate check. Queue API 13.1. */
export async function drainBuffer(
  tx: Tx,
  { limit, nowUs }: Writes['drainBuffer']['args'],
  context: StoreContext,
): Promise<Answer<Writes['drainBuffer']['result']>> {
  await tx.rows('buffer_turn', TURN)
  const rows = await tx.rows<BufferedColumns>('buffer_first', FIRST, [limit])
  const step = rows.slice(0, limit)
  const left = rows.length - step.length
  if (step.length === 0) return quiet({ moved: 0, left })
  const { wakes, notes } = await appendKept(tx, step.map(keptOf), nowUs, context)
  await tx.rows('buffer_remove', REMOVE, [step.map(({ seq }) => seq)])
  return { value: { moved: step.length, left }, wakes, notes }
}

const SKIP = `UPDATE hivegate.buffered_push SET failed = true
  WHERE seq = (SELECT min(seq) FROM hivegate.buffered_push WHERE NOT failed) RETURNING seq`

/** Sets the first buffered push aside when it cannot be replayed. */
export async function skipBuffered(tx: Tx): Promise<Answer<Writes['skipBuffered']['result']>> {
  await tx.rows('buffer_turn', TURN)
  return quiet({ skipped: (await tx.rows('buffer_skip', SKIP)).length > 0 })
}

const STATE = `SELECT
  (SELECT count(*) FROM hivegate.buffered_push WHERE NOT failed) AS pending,
  (SELECT count(*) FROM hivegate.buffered_push WHERE failed) AS failed,
  (SELECT buffered_at FROM hivegate.buffered_push WHERE NOT failed ORDER BY seq LIMIT 1) AS oldest`

/** The buffer of push maintenance. */
export async function readBuffer(db: Statements): Promise<BufferState> {
  const [row] = await db.rows<BufferColumns>('buffer', STATE)
  return bufferState(row)
}
