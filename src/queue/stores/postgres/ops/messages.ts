import type { Statements } from '../../../../storage/index.ts'
import { DEFAULT_OPTIONS, QUEUE_MODE, type QueueOptions } from '../../../model.ts'
import type { ConsumerMode, MessageFilter, Reads } from '../../../store.ts'
import {
  consumersAt,
  failuresAt,
  type MessageOrigin,
  messageRow,
  type StoredColumns,
} from '../../message-views.ts'
import type { StoreContext } from '../handler.ts'
import { conditions } from '../reads/conditions.ts'
import { CONSUMES, consumersOf } from './consumers.ts'
import { placesQuery } from './message-places.ts'

interface Columns extends StoredColumns, MessageOrigin {
  readonly partition_id: number
  readonly encrypted: boolean
  readonly dead: boolean
}

type PageColumns = { readonly total: number } & (Columns | { readonly partition_id: null })

/** One page of messages, newest first. Queue API 10.1. */
export async function readMessages(
  db: Statements,
  filter: MessageFilter,
  { cipher }: StoreContext,
): Promise<Reads['messages']['result']> {
  const { name, sql, values } = placesQuery(filter)
  const found = await db.rows<PageColumns>(name, sql, values)
  const rows = found.flatMap((row) => (row.partition_id === null ? [] : row))
  const ids = [...new Set(rows.map((row) => row.partition_id))]
  const consumers = ids.length === 0 ? undefined : await consumersOf(db, ids, filter.nowUs)
  return {
    rows: rows.map((row) => {
      const { dead, encrypted, partition_id } = row
      const at = consumers?.get(partition_id) ?? []
      return messageRow(row, { origin: row, consumers: at, dead, encrypted }, cipher)
    }),
    total: found[0]?.total ?? 0,
    mode: await readMode(db, filter),
  }
}

/** Who consumes the queues of a filter. */
async function readMode(db: Statements, filter: MessageFilter): Promise<ConsumerMode> {
  const where = conditions([
    ['q.name = ?', filter.queue],
    ['q.namespace = ?', filter.namespace],
    ['q.task = ?', filter.task],
  ])
  const [row] = await db.rows<{ groups: number; plain: boolean | null }>(
    `message_mode_${where.key}`,
    `SELECT count(DISTINCT s.group_name) FILTER (WHERE s.group_name <> '${QUEUE_MODE}') AS groups,
       bool_or(s.group_name = '${QUEUE_MODE}') AS plain
     FROM hivegate.subscription s JOIN hivegate.queue q ON q.id = s.queue_id AND NOT q.deleted
     WHERE ${where.sql} AND ${CONSUMES}`,
    where.values,
  )
  return { hasQueueMode: row?.plain ?? false, busGroups: row?.groups ?? 0 }
}

interface DetailColumns extends Columns {
  readonly options: Partial<QueueOptions>
  readonly error: string | null
  readonly retry_count: number
}

const DETAIL = `SELECT p.id AS partition_id, p.uuid, p.name, q.name AS queue, q.namespace, q.task,
    q.priority, q.options, m.position, m.id, m.transaction_id, m.trace_id, m.producer_sub,
    m.created_at, m.encrypted, m.payload, d.id IS NOT NULL AS dead, d.error, d.retry_count
  FROM hivegate.partition p JOIN hivegate.queue q ON q.id = p.queue_id AND NOT q.deleted
  CROSS JOIN LATERAL (SELECT * FROM hivegate.message m
    WHERE m.partition_id = p.id AND m.transaction_id = $2 AND m.position >= p.head
    ORDER BY m.position DESC LIMIT 1) m
  LEFT JOIN LATERAL (SELECT d.id, d.error, d.retry_count FROM hivegate.dead_letter d
    WHERE d.partition_uuid = p.uuid AND d.transaction_id = m.transaction_id AND d.message_id = m.id
    ORDER BY d.failed_at DESC, d.id DESC LIMIT 1) d ON true
  WHERE p.uuid = $1`

/** One message in full; null when it is not stored. Queue API 10.2. */
export async function readMessage(
  db: Statements,
  { partitionId, transactionId, nowUs }: Reads['message']['args'],
  { cipher }: StoreContext,
): Promise<Reads['message']['result']> {
  const [row] = await db.rows<DetailColumns>('message', DETAIL, [partitionId, transactionId])
  if (row === undefined) return null
  const { partition_id, position, dead, encrypted } = row
  const consumers = (await consumersOf(db, [partition_id], nowUs)).get(partition_id) ?? []
  return {
    message: messageRow(row, { origin: row, consumers, dead, encrypted }, cipher),
    consumers: consumersAt(consumers, position),
    ...failuresAt(consumers, position, dead ? row : undefined),
    options: { ...DEFAULT_OPTIONS, ...row.options },
  }
}
