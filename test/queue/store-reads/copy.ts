import { DatabaseSync } from 'node:sqlite'
import { DEFAULT_OPTIONS } from '../../../src/queue/model.ts'
import type { PgHost } from '../../../src/storage/index.ts'

type Row = Record<string, unknown>

/** Tables that both stores have alike. */
const SAME = [
  'subscription',
  'message',
  'ghost',
  'cursor',
  'dead_letter',
  'flag',
  'trace',
  'trace_tag',
  'trace_name_message',
  'gone_partition',
  'buffered_push',
  'metric_process',
  'metric_queue',
  'metric_sample',
  'metric_total',
  'stream_query',
  'stream_state',
] as const

const PARTITIONS = `SELECT p.id, p.uuid, p.queue_id, p.name, p.created_at, p.head, p.holes,
    max(p.next_floor, coalesce(max(m.position), 0) + 1) AS next,
    max(p.stamp_floor, coalesce(max(m.created_at), 0)) AS stamp
  FROM partition p LEFT JOIN message m ON m.partition_id = p.id GROUP BY p.id`

const QUEUES = 'SELECT id, uuid, name, namespace, task, options, created_at, deleted FROM queue'
const QUEUE_TOTALS = 'SELECT id AS queue_id, partitions, pushed, stored, dead FROM queue'
const SUBSCRIPTION_TOTALS =
  'SELECT id AS subscription_id, passed, members, consumed, failed FROM subscription'

/** A running total as two backends would leave it: the parts may be below zero, the sum is what counts. */
function inSlots(rows: readonly Row[], kept: readonly string[]): readonly Row[] {
  return rows.flatMap((row) => {
    const part = (slot: number, pick: (value: number) => number): Row => ({
      slot,
      ...Object.fromEntries(
        Object.entries(row).map(([name, value]) => {
          return [name, kept.includes(name) ? value : pick(Number(value))]
        }),
      ),
    })
    return [part(3, (value) => value + 5), part(12, () => -5)]
  })
}

/** The columns of a table that are not generated. */
async function columnsOf(host: PgHost, table: string): Promise<string> {
  const rows = await host.rows<{ name: string }>(
    'columns',
    `SELECT column_name AS name FROM information_schema.columns
     WHERE table_schema = 'hivegate' AND table_name = $1 AND is_generated = 'NEVER'`,
    [table],
  )
  return rows.map(({ name }) => name).join(', ')
}

async function put(host: PgHost, table: string, rows: readonly Row[]): Promise<void> {
  const given = Object.keys(rows[0] ?? {})
  const known = (await columnsOf(host, table)).split(', ')
  const columns = known.filter((name) => given.includes(name)).join(', ')
  if (columns === '') return
  await host.rows(
    `put_${table}`,
    `INSERT INTO hivegate.${table} (${columns}) OVERRIDING SYSTEM VALUE
     SELECT ${columns} FROM json_populate_recordset(NULL::hivegate.${table}, $1)`,
    [JSON.stringify(rows)],
  )
}

/** Copies the rows of an embedded store's file into an empty PostgreSQL store, so that both hold the same. */
export async function copyStore(file: string, host: PgHost): Promise<void> {
  const db = new DatabaseSync(file, { readOnly: true })
  const all = (sql: string) => db.prepare(sql).all() as Row[]
  try {
    const queues = all(QUEUES).map((row) => {
      return { ...row, options: { ...DEFAULT_OPTIONS, ...JSON.parse(String(row['options'])) } }
    })
    await put(host, 'queue', queues)
    await put(host, 'partition', all(PARTITIONS))
    await put(host, 'queue_total', inSlots(all(QUEUE_TOTALS), ['queue_id']))
    const totals = inSlots(all(SUBSCRIPTION_TOTALS), ['subscription_id'])
    await put(host, 'subscription_total', totals)
    const names = inSlots(all('SELECT * FROM trace_name'), ['name', 'last_seen'])
    await put(host, 'trace_name', names)
    for (const table of SAME) await put(host, table, all(`SELECT * FROM ${table}`))
  } finally {
    db.close()
  }
}
