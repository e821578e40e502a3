import type { Statements } from '../../../../storage/index.ts'
import type { Reads, TraceRow } from '../../../store.ts'
import {
  namedTraceRow,
  type TraceColumns,
  type TracedColumns,
  type TraceNameColumns,
  traceNameRow,
  traceRow,
} from '../../trace-rows.ts'
import type { StoreContext } from '../handler.ts'
import { conditions } from '../reads/conditions.ts'
import { TRACE_NAME_SLOTS } from './traces.ts'

interface TaggedColumns extends TraceColumns {
  readonly names: readonly string[]
}

interface NamedColumns extends TaggedColumns, TracedColumns {
  readonly payload: string | null
  readonly encrypted: boolean | null
}

const COLUMNS = `t.id, t.event_type, t.data, t.group_name, t.worker_id, t.created_at,
  ARRAY(SELECT n.name FROM hivegate.trace_tag n WHERE n.trace_id = t.id ORDER BY n.name) AS names`

/** Events of a queue that was deleted are not shown, and removed behind it. */
const ORIGIN = `JOIN hivegate.partition p ON p.id = t.partition_id
  JOIN hivegate.queue q ON q.id = p.queue_id AND NOT q.deleted`

/** The events of one message, oldest first. Queue API 10.5. */
export async function readMessageTraces(
  db: Statements,
  { partitionId, transactionId }: Reads['messageTraces']['args'],
): Promise<readonly TraceRow[]> {
  const rows = await db.rows<TaggedColumns>(
    'message_traces',
    `SELECT ${COLUMNS} FROM hivegate.trace t ${ORIGIN}
     WHERE p.uuid = $1 AND t.transaction_id = $2 ORDER BY t.id`,
    [partitionId, transactionId],
  )
  return rows.map((row) => traceRow(row, row.names))
}

/** The events under one name, newest first, with the message they belong to. Queue API 10.5. */
export async function readTracesByName(
  db: Statements,
  args: Reads['tracesByName']['args'],
  { cipher }: StoreContext,
): Promise<Reads['tracesByName']['result']> {
  const where = conditions([
    ['g.name = ?', args.name],
    ['t.created_at >= ?', args.fromUs],
    ['t.created_at <= ?', args.toUs],
  ])
  const from = `FROM hivegate.trace_tag g JOIN hivegate.trace t ON t.id = g.trace_id ${ORIGIN}
    WHERE ${where.sql}`
  const given = where.values.length
  const rows = await db.rows<NamedColumns>(
    `traces_by_name_${where.key}`,
    `SELECT ${COLUMNS}, t.transaction_id, t.uuid, t.partition, t.queue, m.payload, m.encrypted
     FROM (SELECT t.*, p.uuid, p.head, p.name AS partition, q.name AS queue ${from}
       ORDER BY g.trace_id DESC LIMIT $${given + 1} OFFSET $${given + 2}) t
     LEFT JOIN LATERAL (SELECT m.payload, m.encrypted FROM hivegate.message m
       WHERE m.partition_id = t.partition_id AND m.transaction_id = t.transaction_id
         AND m.position >= t.head
       ORDER BY m.position DESC LIMIT 1) m ON true
     ORDER BY t.id DESC`,
    [...where.values, args.limit, args.offset],
  )
  const [count] = await db.rows<{ n: number }>(
    `trace_count_${where.key}`,
    `SELECT count(*) AS n ${from}`,
    where.values,
  )
  return {
    total: count?.n ?? 0,
    rows: rows.map((row) => {
      const sealed = row.payload !== null && row.encrypted
      const payload = sealed ? cipher.open(row.payload) : row.payload
      return namedTraceRow(traceRow(row, row.names), row, payload)
    }),
  }
}

/**
 * The newest `$1` + `$2` names stand among the first rows of the index by time, because each name fills no more
 * rows than there are slots.
 */
const NAMES = `SELECT n.name, sum(n.traces) AS traces, sum(n.messages) AS messages,
    max(n.last_seen) AS last_seen
  FROM (SELECT DISTINCT s.name FROM (SELECT name FROM hivegate.trace_name
      ORDER BY last_seen DESC, name LIMIT ($1::bigint + $2::bigint) * ${TRACE_NAME_SLOTS}) s) s
  JOIN hivegate.trace_name n ON n.name = s.name
  GROUP BY n.name ORDER BY last_seen DESC, n.name LIMIT $1 OFFSET $2`

/** The names in use, the most recently seen first. Queue API 10.5. */
export async function readTraceNames(
  db: Statements,
  { limit, offset }: Reads['traceNames']['args'],
): Promise<Reads['traceNames']['result']> {
  const rows = await db.rows<TraceNameColumns>('trace_names', NAMES, [limit, offset])
  const [count] = await db.rows<{ n: number }>(
    'trace_name_count',
    'SELECT count(DISTINCT name) AS n FROM hivegate.trace_name',
  )
  return {
    total: count?.n ?? 0,
    rows: rows.map(traceNameRow),
  }
}
