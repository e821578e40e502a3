import type { PgHost, Tx } from '../../../../storage/index.ts'
import type { ReplayedPushes, Replaying, WaitingPush } from '../../../store.ts'
import type { KeptMessage } from '../../buffer-rows.ts'
import { appendKept } from '../append.ts'
import type { StoreContext } from '../handler.ts'

/**
 * As every push: together with others, never while somebody drains the buffer or sets the switch. What follows looks
 * things up by index, however few rows a table has.
 */
const TURN = `SELECT hivegate.enter_buffer_gate(false), set_config('enable_seqscan', 'off', true)`

/** What is in the buffer came before; while pushes are diverted, these wait where they are. */
const HELD = `SELECT EXISTS (SELECT FROM hivegate.flag f WHERE f.name = 'pushMaintenance' AND f.value)
  OR EXISTS (SELECT FROM hivegate.buffered_push b WHERE NOT b.failed) AS held`

/**
 * Numbers, from 1, of pushes whose transaction id was known when they came, or has been stored since: an outage may
 * last longer than the window in which the push itself looks for duplicates.
 */
const KNOWN = `SELECT i.n FROM unnest($1::text[], $2::text[], $3::text[]) WITH ORDINALITY i(queue, partition, tx, n)
    JOIN hivegate.queue q ON q.name = i.queue AND NOT q.deleted AND q.dedup_us > 0
    JOIN hivegate.partition p ON p.queue_id = q.id AND p.name = i.partition
    CROSS JOIN LATERAL (
      (SELECT m.created_at FROM hivegate.message m
       WHERE m.partition_id = p.id AND m.transaction_id = i.tx AND m.position >= p.head
       ORDER BY m.position DESC LIMIT 1)
      UNION ALL
      (SELECT g.created_at FROM hivegate.ghost g WHERE g.partition_id = p.id AND g.transaction_id = i.tx)
    ) f
  WHERE f.created_at > $4::bigint - q.dedup_us`

/** Queues whose payloads are sealed. */
const SEALED = `SELECT q.name FROM hivegate.queue q
  WHERE q.name = ANY($1::text[]) AND NOT q.deleted AND q.encrypted`

async function unknownOf(tx: Tx, { messages, atUs }: Replaying) {
  const rows = await tx.rows<{ n: number }>('replay_known', KNOWN, [
    messages.map(({ item }) => item.queue),
    messages.map(({ item }) => item.partition),
    messages.map(({ item }) => item.transactionId),
    atUs,
  ])
  const known = new Set(rows.map(({ n }) => n))
  return messages.filter((_, i) => !known.has(i + 1))
}

async function keptOf(tx: Tx, messages: readonly WaitingPush[], { cipher }: StoreContext) {
  const names = [...new Set(messages.map(({ item }) => item.queue))]
  const rows = cipher.enabled
    ? await tx.rows<{ name: string }>('replay_sealed', SEALED, [names])
    : []
  const sealed = new Set(rows.map(({ name }) => name))
  return messages.map(({ item, id, producerSub }): KeptMessage => {
    const encrypted = sealed.has(item.queue)
    const payload = encrypted ? cipher.seal(item.payload) : item.payload
    return { item: { ...item, payload }, id, encrypted, producerSub }
  })
}

/**
 * Stores pushes that waited outside of the store while it was away, with the ids they were given, in one
 * transaction and each transaction id once.
 */
export function replayPushes(
  host: PgHost,
  replaying: Replaying,
  context: StoreContext,
): Promise<ReplayedPushes> {
  return host.transaction(async (tx) => {
    await tx.rows('replay_turn', TURN)
    const [row] = await tx.rows<{ held: boolean }>('replay_held', HELD)
    if (row?.held === true) return { held: true, wakes: [], notes: [] }
    const kept = await keptOf(tx, await unknownOf(tx, replaying), context)
    const { wakes, notes } = await appendKept(tx, kept, replaying.nowUs, context)
    return { held: false, wakes, notes }
  })
}
