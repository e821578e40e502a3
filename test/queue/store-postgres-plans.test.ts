import { beforeAll, describe, expect, test } from 'vitest'
import { DEFAULT_OPTIONS } from '../../src/queue/model.ts'
import type { PgHost, Tx } from '../../src/storage/index.ts'
import { PostgresStores } from '../support/queue-store-postgres.ts'

const NOW = 1_800_000_000_000_000
const PAYLOAD = 'x'.repeat(100)

/** Fills one queue: `partitions` times `depth` messages, all of them before the one group. */
async function fill(host: PgHost, partitions: number, depth: number): Promise<void> {
  await host.transaction(async (tx) => {
    await tx.rows(
      'fill_queue',
      `INSERT INTO hivegate.queue (uuid, name, namespace, task, options, created_at)
       VALUES ('u', 'q', 'q', '', $1::jsonb, 1)`,
      [JSON.stringify(DEFAULT_OPTIONS)],
    )
    await tx.rows(
      'fill_partitions',
      `INSERT INTO hivegate.partition (uuid, queue_id, name, created_at, next, stamp)
       SELECT 'part-' || g, q.id, 'p' || g, 1, $2 + 1, $2
       FROM generate_series(1, $1) g, hivegate.queue q`,
      [partitions, depth],
    )
    await tx.rows(
      'fill_messages',
      `INSERT INTO hivegate.message SELECT p.id, n, p.name || '-' || n, p.name || '-t' || n, NULL, NULL, n,
         false, $2 FROM hivegate.partition p, generate_series(1, $1) n`,
      [depth, PAYLOAD],
    )
    await tx.rows('fill_group', "SELECT hivegate.contact('q', 'g', 'all', NULL, $1)", [NOW])
  })
}

const POP = `hivegate.pop_batch($1, '{q}', '{NULL}', '{NULL}', '{NULL}', '{g}', '{all}', '{NULL}',
  '{1}', '{1}', '{1}', ARRAY[$2::text], '{NULL}')`
const ACK = `hivegate.ack_batch($1, '{0}', ARRAY[$2::text], '{g}', ARRAY[$3::text], '{1}', ARRAY[$4::text],
  '{0}', '{NULL}')`
const PUSH = `hivegate.divert_or_push($1, '{q}', ARRAY[$2::text], '{q}', '{q}', '{}', '{1}', '{1}',
  ARRAY[$3::text], '{NULL}', '{NULL}', '{a000b000c000d000}', '{1}', '{}', '{}', '{}')`

type Plan = { Plan: { 'Shared Hit Blocks': number; 'Shared Read Blocks': number } }[]

async function blocks(tx: Tx, call: string, values: readonly unknown[]): Promise<number> {
  const sql = `EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) SELECT * FROM ${call}`
  const [row] = await tx.rows<{ 'QUERY PLAN': Plan }>('', sql, values)
  const plan = row!['QUERY PLAN'][0]!.Plan
  return plan['Shared Hit Blocks'] + plan['Shared Read Blocks']
}

/** Blocks that one push, pop and ack touch once the session knows its plans. */
async function costs(host: PgHost) {
  const once = (tx: Tx, n: number) => async () => {
    const lease = `lease${n}`
    const pop = await blocks(tx, POP, [NOW + n, lease])
    const [held] = await tx.rows<{ uuid: string; name: string }>(
      'held',
      `SELECT p.uuid, p.name FROM hivegate.cursor c JOIN hivegate.partition p ON p.id = c.partition_id
       WHERE c.lease_id = $1`,
      [lease],
    )
    const ack = await blocks(tx, ACK, [NOW + n, held!.uuid, lease, `${held!.name}-t1`])
    const push = await blocks(tx, PUSH, [NOW + n, `p${n + 50}`, `tx${n}`])
    return { pop, ack, push }
  }
  return host.transaction(async (tx) => {
    await once(tx, 1)()
    await once(tx, 2)()
    return once(tx, 3)()
  })
}

async function scans(stores: PostgresStores) {
  return stores.database.query(
    `SELECT relname, seq_scan FROM pg_stat_user_tables
     WHERE relname IN ('message', 'cursor', 'partition') ORDER BY 1`,
  )
}

describe('the hot functions of the PostgreSQL store', () => {
  // Databases of their own: what an earlier filling has left behind must not count.
  const few = new PostgresStores()
  const many = new PostgresStores()
  let small: Awaited<ReturnType<typeof costs>>

  beforeAll(async () => {
    const host = await few.openHost()
    await fill(host, 100, 5)
    small = await costs(host)
    await fill(await many.openHost(), 5000, 20)
  })

  test('cost no more with 50 times the partitions and 200 times the messages', async () => {
    const host = await many.openHost()
    const before = await scans(many)
    const big = await costs(host)
    // One more level of an index here and there.
    for (const kind of ['pop', 'ack', 'push'] as const) {
      expect(big[kind], kind).toBeLessThan(small[kind] + 30)
      expect(big[kind], kind).toBeLessThan(150)
    }
    await host.close()
    expect(await scans(many)).toEqual(before)
  })

  test('update the rows of partitions and totals in place, without new index entries', async () => {
    const host = await many.openHost()
    for (let n = 0; n < 40; n += 1) {
      await host.rows('push_here', `SELECT states FROM ${PUSH}`, [NOW + n, `p${n % 4}0`, `u${n}`])
    }
    // Counters of a session are written out when it ends.
    await host.close()
    const rows = await many.database.query(
      `SELECT relname, n_tup_upd AS all, n_tup_hot_upd AS hot FROM pg_stat_user_tables
       WHERE relname IN ('partition', 'queue_total') ORDER BY 1`,
    )
    for (const { relname, all, hot } of rows) {
      expect(Number(all), String(relname)).toBeGreaterThan(0)
      expect(Number(hot) / Number(all), String(relname)).toBeGreaterThan(0.8)
    }
  })
})
