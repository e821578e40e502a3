import type { DatabaseSync } from 'node:sqlite'
import type { PayloadCipher } from '../../../cipher.ts'
import { freshId } from '../../../message-id.ts'
import type { NamedTraceRow, OpsReads, OpsWrites, TraceRow } from '../../../store-ops.ts'
import { openedPayload, type SealedColumns } from '../../stored-flags.ts'
import {
  namedTraceRow,
  type TraceColumns,
  type TracedColumns,
  type TraceNameColumns,
  traceNameRow,
  traceRow,
} from '../../trace-rows.ts'
import { change, query } from '../rows.ts'
import { partitionHeads } from './partition-heads.ts'

interface StoredColumns extends TraceColumns {
  readonly partition_id: number
  readonly transaction_id: string
}

const COLUMNS =
  't.id, t.partition_id, t.transaction_id, t.group_name, t.event_type, t.worker_id, t.data, ' +
  't.created_at'

/** Writes of traces, on the writing connection. */
export function traceWriter(db: DatabaseSync) {
  const heads = partitionHeads(db)
  const message = query<{ position: number }>(
    db,
    `SELECT position FROM message WHERE partition_id = ? AND transaction_id = ? AND position >= ?
     LIMIT 1`,
  )
  const add = change(db, 'INSERT INTO trace VALUES (?, ?, ?, ?, ?, ?, ?, ?)')
  const tag = change(db, 'INSERT OR IGNORE INTO trace_tag (name, trace_id) VALUES (?, ?)')
  const ofMessage = query<{ traces: number }>(
    db,
    `INSERT INTO trace_name_message (name, partition_id, transaction_id, traces)
     VALUES (?, ?, ?, 1)
     ON CONFLICT (name, partition_id, transaction_id) DO UPDATE SET traces = traces + 1
     RETURNING traces`,
  )
  const count = change(
    db,
    `INSERT INTO trace_name (name, traces, messages, last_seen) VALUES (?1, 1, ?2, ?3)
     ON CONFLICT (name) DO UPDATE SET traces = traces + 1, messages = messages + ?2,
       last_seen = max(last_seen, ?3)`,
  )

  return {
    addTrace(args: OpsWrites['addTrace']['args']): OpsWrites['addTrace']['result'] {
      const partition = heads.byUuid(args.partitionId)
      if (partition === undefined) return { traceId: null }
      if (message.one(partition.id, args.transactionId, partition.head) === undefined) {
        return { traceId: null }
      }
      const id = freshId(Math.floor(args.nowUs / 1000))
      const { transactionId, group, eventType, workerId, data, nowUs } = args
      add(id, partition.id, transactionId, group, eventType, workerId, data, nowUs)
      for (const name of args.names) {
        tag(name, id)
        const first = ofMessage.one(name, partition.id, transactionId)?.traces === 1
        count(name, first ? 1 : 0, nowUs)
      }
      return { traceId: id }
    },
  }
}

/** Reads of traces. Events of a queue that was deleted are not shown, and removed behind it. */
export class TraceReader {
  readonly #cipher: PayloadCipher
  readonly #heads
  readonly #sql

  constructor(db: DatabaseSync, cipher: PayloadCipher) {
    this.#cipher = cipher
    this.#heads = partitionHeads(db)
    this.#sql = {
      ofMessage: query<StoredColumns>(
        db,
        `SELECT ${COLUMNS} FROM trace t WHERE t.partition_id = ? AND t.transaction_id = ?
         ORDER BY t.id`,
      ),
      namesOf: query<{ name: string }>(
        db,
        'SELECT name FROM trace_tag WHERE trace_id = ? ORDER BY name',
      ),
      byName: query<StoredColumns & TracedColumns & { head: number }>(
        db,
        `SELECT ${COLUMNS}, p.uuid, p.name AS partition, p.head, q.name AS queue
         FROM trace_tag g JOIN trace t ON t.id = g.trace_id
           JOIN partition p ON p.id = t.partition_id
           JOIN queue q ON q.id = p.queue_id AND q.deleted = 0
         WHERE g.name = ?1 AND (?2 IS NULL OR t.created_at >= ?2)
           AND (?3 IS NULL OR t.created_at <= ?3)
         ORDER BY g.trace_id DESC LIMIT ?4 OFFSET ?5`,
      ),
      countByName: query<{ n: number }>(
        db,
        `SELECT count(*) AS n
         FROM trace_tag g JOIN trace t ON t.id = g.trace_id
           JOIN partition p ON p.id = t.partition_id
           JOIN queue q ON q.id = p.queue_id AND q.deleted = 0
         WHERE g.name = ?1 AND (?2 IS NULL OR t.created_at >= ?2)
           AND (?3 IS NULL OR t.created_at <= ?3)`,
      ),
      payload: query<SealedColumns>(
        db,
        `SELECT payload, encrypted FROM message WHERE partition_id = ? AND transaction_id = ?
           AND position >= ? ORDER BY position DESC LIMIT 1`,
      ),
      names: query<TraceNameColumns>(
        db,
        'SELECT name, traces, messages, last_seen FROM trace_name ORDER BY last_seen DESC, name LIMIT ? OFFSET ?',
      ),
      countNames: query<{ n: number }>(db, 'SELECT count(*) AS n FROM trace_name'),
    }
  }

  messageTraces(args: OpsReads['messageTraces']['args']): readonly TraceRow[] {
    const partition = this.#heads.byUuid(args.partitionId)
    if (partition === undefined) return []
    return this.#sql.ofMessage.all(partition.id, args.transactionId).map((row) => this.#rowOf(row))
  }

  tracesByName(args: OpsReads['tracesByName']['args']): OpsReads['tracesByName']['result'] {
    const { name, fromUs, toUs, limit, offset } = args
    const rows = this.#sql.byName.all(name, fromUs, toUs, limit, offset)
    const total = this.#sql.countByName.one(name, fromUs, toUs)?.n ?? 0
    return {
      total,
      rows: rows.map((row): NamedTraceRow => {
        const stored = this.#sql.payload.one(row.partition_id, row.transaction_id, row.head)
        const payload = stored === undefined ? null : openedPayload(stored, this.#cipher)
        return namedTraceRow(this.#rowOf(row), row, payload)
      }),
    }
  }

  traceNames({ limit, offset }: OpsReads['traceNames']['args']): OpsReads['traceNames']['result'] {
    return {
      total: this.#sql.countNames.one()?.n ?? 0,
      rows: this.#sql.names.all(limit, offset).map(traceNameRow),
    }
  }

  #rowOf(row: TraceColumns): TraceRow {
    return traceRow(
      row,
      this.#sql.namesOf.all(row.id).map(({ name }) => name),
    )
  }
}
