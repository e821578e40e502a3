import type { Tx } from '../../../../storage/index.ts'
import { firstIdAt } from '../../../message-id.ts'
import type { Writes } from '../../../store.ts'
import { type Answer, quiet } from '../handler.ts'

/** Gone partitions that one step looks at. */
const MAX_PARTITIONS = 100

/** Whoever comes second leaves it to the first. */
const TURN = `SELECT pg_try_advisory_xact_lock(hashtextextended('hivegate history', 0)) AS mine`

/** Traces and their tags; answers how many traces each (name, message) has lost. `doomed` selects ids. */
function dropTraces(doomed: string): string {
  return `WITH gone AS (
      DELETE FROM hivegate.trace WHERE id = ANY(ARRAY(${doomed})) RETURNING id, partition_id, transaction_id),
    untagged AS (
      DELETE FROM hivegate.trace_tag g USING gone WHERE g.trace_id = gone.id
      RETURNING g.name, gone.partition_id, gone.transaction_id)
    SELECT (SELECT count(*) FROM gone) AS removed, u.name, u.partition_id, u.transaction_id,
      count(*) AS traces
    FROM (SELECT true) one LEFT JOIN untagged u ON true
    GROUP BY u.name, u.partition_id, u.transaction_id`
}

const DROP_OLD = dropTraces('SELECT id FROM hivegate.trace WHERE id < $1 ORDER BY id LIMIT $2')
const DROP_ORPHANS = dropTraces(`SELECT t.id FROM hivegate.trace t
  WHERE t.partition_id = ANY($1::bigint[]) LIMIT $2`)

interface Loss {
  readonly removed: number
  readonly name: string | null
  readonly partition_id: number | null
  readonly transaction_id: string | null
  readonly traces: number
}

const LOST = `unnest($1::text[], $2::bigint[], $3::text[], $4::bigint[])
  AS l (name, partition_id, transaction_id, traces)`
const SAME_PAIR = `n.name = l.name AND n.partition_id = l.partition_id
  AND n.transaction_id = l.transaction_id`

// All rows are locked in the order that writers of traces keep; what is read then is the last word.
const LOCK_PAIRS = `SELECT count(*) FROM (SELECT FROM hivegate.trace_name_message n
  JOIN ${LOST} ON ${SAME_PAIR}
  ORDER BY n.name, n.partition_id, n.transaction_id FOR UPDATE OF n) locked`
const LOCK_NAMES = `SELECT count(*) FROM (SELECT FROM hivegate.trace_name
  WHERE name = ANY($1::text[]) ORDER BY name, slot FOR UPDATE) locked`

/** A pair without traces goes, and the message with it out of the count of the name. */
const UNCOUNT = `WITH less AS (
    UPDATE hivegate.trace_name_message n SET traces = n.traces - l.traces
    FROM ${LOST} WHERE ${SAME_PAIR} AND n.traces > l.traces),
  none AS (
    DELETE FROM hivegate.trace_name_message n USING ${LOST}
    WHERE ${SAME_PAIR} AND n.traces <= l.traces RETURNING n.name),
  change AS (
    SELECT l.name, sum(l.traces) AS traces,
      (SELECT count(*) FROM none WHERE none.name = l.name) AS messages
    FROM ${LOST} GROUP BY l.name)
  UPDATE hivegate.trace_name n SET traces = n.traces - c.traces, messages = n.messages - c.messages
  FROM change c
  WHERE n.name = c.name
    AND n.slot = (SELECT min(x.slot) FROM hivegate.trace_name x WHERE x.name = c.name)`

const DROP_NAMES = `DELETE FROM hivegate.trace_name WHERE name IN (
  SELECT name FROM hivegate.trace_name WHERE name = ANY($1::text[])
  GROUP BY name HAVING sum(traces) <= 0)`

/** Takes the names of removed traces out of the running totals; answers how many traces went. */
async function uncount(tx: Tx, losses: readonly Loss[]): Promise<number> {
  const tagged = losses.filter(({ name }) => name !== null)
  if (tagged.length > 0) {
    const names = [...new Set(tagged.map(({ name }) => name))]
    const lost = [
      tagged.map(({ name }) => name),
      tagged.map(({ partition_id: id }) => id),
      tagged.map(({ transaction_id: id }) => id),
      tagged.map(({ traces }) => traces),
    ]
    await tx.rows('prune_lock_pairs', LOCK_PAIRS, lost)
    await tx.rows('prune_lock_names', LOCK_NAMES, [names])
    await tx.rows('prune_uncount', UNCOUNT, lost)
    await tx.rows('prune_names', DROP_NAMES, [names])
  }
  return losses[0]?.removed ?? 0
}

/** Deletes up to `$2` rows by their place in the table, so that no more of it is read, and counts them. */
function dropRows(table: string, where: string): string {
  return `WITH gone AS (DELETE FROM ${table} WHERE ctid = ANY(ARRAY(
      SELECT ctid FROM ${table} WHERE ${where} LIMIT $2)) RETURNING 1)
    SELECT count(*) AS n FROM gone`
}

const DROP_QUEUES = dropRows('hivegate.metric_queue', 'at_ms < $1 ORDER BY at_ms')
const DROP_SAMPLES = dropRows('hivegate.metric_sample', 'at_ms < $1 ORDER BY at_ms')
const DROP_STATE = dropRows('hivegate.stream_state', 'partition_uuid = ANY($1::text[])')

async function drop(tx: Tx, name: string, sql: string, values: readonly unknown[]) {
  const [row] = await tx.rows<{ n: number }>(name, sql, values)
  return row?.n ?? 0
}

const GONE = `SELECT partition_id, uuid FROM hivegate.gone_partition ORDER BY partition_id
  LIMIT ${MAX_PARTITIONS}`
const SETTLE = 'DELETE FROM hivegate.gone_partition WHERE partition_id = ANY($1::bigint[])'

/** What partitions left behind when they went: their traces and stream state. */
async function dropOrphans(tx: Tx, limit: number): Promise<number> {
  const gone = await tx.rows<{ partition_id: number; uuid: string }>('prune_gone', GONE)
  if (gone.length === 0) return 0
  const ids = gone.map(({ partition_id: id }) => id)
  const traces = await uncount(tx, await tx.rows('prune_orphans', DROP_ORPHANS, [ids, limit]))
  const uuids = gone.map(({ uuid }) => uuid)
  const removed = traces + (await drop(tx, 'prune_state', DROP_STATE, [uuids, limit - traces]))
  if (removed < limit) await tx.rows('prune_settle', SETTLE, [ids])
  return removed
}

/** One step: old metrics, old traces, and what deleted partitions left behind. */
export async function pruneHistory(
  tx: Tx,
  { beforeMs: givenMs, limit }: Writes['pruneHistory']['args'],
): Promise<Answer<Writes['pruneHistory']['result']>> {
  // Intervals begin at whole milliseconds.
  const beforeMs = Math.ceil(givenMs)
  const [turn] = await tx.rows<{ mine: boolean }>('prune_turn', TURN)
  if (turn?.mine !== true) return quiet({ deleted: 0 })
  const before = firstIdAt(beforeMs)
  const traces = await uncount(tx, await tx.rows('prune_traces', DROP_OLD, [before, limit]))
  const queues = await drop(tx, 'prune_queues', DROP_QUEUES, [beforeMs, limit])
  const samples = await drop(tx, 'prune_samples', DROP_SAMPLES, [beforeMs, limit])
  return quiet({ deleted: traces + queues + samples + (await dropOrphans(tx, limit)) })
}
