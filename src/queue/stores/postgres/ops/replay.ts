import type { PgHost } from '../../../../storage/index.ts'
import type { ReplayedPushes, WaitingPush } from '../../../store.ts'
import { appendKept, type KeptMessage } from '../append.ts'
import type { StoreContext } from '../handler.ts'

/** As every push: together with others, never while somebody drains the buffer or sets the switch. */
const TURN = 'SELECT hivegate.enter_buffer_gate(false)'

/** What is in the buffer came before; while pushes are diverted, these wait where they are. */
const HELD = `SELECT EXISTS (SELECT FROM hivegate.flag f WHERE f.name = 'pushMaintenance' AND f.value)
  OR EXISTS (SELECT FROM hivegate.buffered_push b WHERE NOT b.failed) AS held`

/** Queues whose payloads are sealed. */
const SEALED = `SELECT q.name FROM hivegate.queue q
  WHERE q.name = ANY($1::text[]) AND NOT q.deleted AND q.encrypted`

/**
 * Stores pushes that waited outside of the store while it was away, with the ids they were given, in one
 * transaction and with the duplicate check of the moment when they came.
 */
export function replayPushes(
  host: PgHost,
  messages: readonly WaitingPush[],
  atUs: number,
  context: StoreContext,
): Promise<ReplayedPushes> {
  return host.transaction(async (tx) => {
    await tx.rows('replay_turn', TURN)
    const [row] = await tx.rows<{ held: boolean }>('replay_held', HELD)
    if (row?.held === true) return { held: true, wakes: [], notes: [] }
    const names = [...new Set(messages.map(({ item }) => item.queue))]
    const { cipher } = context
    const rows = cipher.enabled
      ? await tx.rows<{ name: string }>('replay_sealed', SEALED, [names])
      : []
    const sealed = new Set(rows.map(({ name }) => name))
    const kept = messages.map(({ item, id, producerSub }): KeptMessage => {
      const encrypted = sealed.has(item.queue)
      const payload = encrypted ? cipher.seal(item.payload) : item.payload
      return { item: { ...item, payload }, id, encrypted, producerSub }
    })
    const { wakes, notes } = await appendKept(tx, kept, atUs, context)
    return { held: false, wakes, notes }
  })
}
