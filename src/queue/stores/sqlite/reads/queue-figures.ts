import type { DatabaseSync } from 'node:sqlite'
import { QUEUE_MODE } from '../../../model.ts'
import type { QueueFigures, QueueFilter } from '../../figures.ts'
import type { LiveQueue } from '../../overview-rows.ts'
import { query } from '../rows.ts'

const COLUMNS = `q.id, q.uuid, q.name, q.namespace, q.task, q.priority, q.created_at, q.partitions,
  q.pushed, q.stored, q.dead,
  (SELECT q.stored - s.passed FROM subscription s
     WHERE s.queue_name = q.name AND s.group_name = '${QUEUE_MODE}') AS queue_lag,
  (SELECT q.stored - min(s.passed) FROM subscription s WHERE s.queue_name = q.name) AS group_lag,
  (SELECT coalesce(sum(s.consumed), 0) FROM subscription s WHERE s.queue_name = q.name) AS consumed,
  (SELECT coalesce(sum(s.failed), 0) FROM subscription s WHERE s.queue_name = q.name) AS failed`

const MATCHES = `q.deleted = 0 AND (?1 IS NULL OR q.namespace = ?1) AND (?2 IS NULL OR q.task = ?2)
  AND (?3 IS NULL OR instr(q.name, ?3) > 0)`

/** "All" for LIMIT. */
const NO_LIMIT = -1

/** Reads queues with what listings show of them, from running totals alone. */
export class QueueFiguresReader {
  readonly #sql

  constructor(db: DatabaseSync) {
    this.#sql = {
      list: query<QueueFigures>(
        db,
        `SELECT ${COLUMNS} FROM queue q WHERE ${MATCHES}
         ORDER BY q.created_at DESC, q.id DESC LIMIT ?4 OFFSET ?5`,
      ),
      total: query<{ n: number }>(db, `SELECT count(*) AS n FROM queue q WHERE ${MATCHES}`),
      byName: query<QueueFigures>(
        db,
        `SELECT ${COLUMNS} FROM queue q WHERE q.name = ? AND q.deleted = 0`,
      ),
      processing: query<{ queue_id: number; n: number }>(
        db,
        `SELECT s.queue_id, sum(c.lease_left) AS n
         FROM cursor c JOIN subscription s ON s.id = c.subscription_id
         WHERE c.lease_id IS NOT NULL AND c.lease_until > ? GROUP BY s.queue_id`,
      ),
    }
  }

  list({ namespace, task, search, limit, offset }: QueueFilter): readonly QueueFigures[] {
    return this.#sql.list.all(namespace, task, search, limit ?? NO_LIMIT, offset)
  }

  /** The same with the messages inside leases that are live at `nowUs`. */
  live(filter: QueueFilter, nowUs: number): readonly LiveQueue[] {
    const processing = this.#processing(nowUs)
    return this.list(filter).map((queue) => {
      return { ...queue, processing: processing.get(queue.id) ?? 0 }
    })
  }

  total({ namespace, task, search }: QueueFilter): number {
    return this.#sql.total.one(namespace, task, search)?.n ?? 0
  }

  byName(name: string): QueueFigures | undefined {
    return this.#sql.byName.one(name)
  }

  /** Messages in live leases by queue id. */
  #processing(nowUs: number): ReadonlyMap<number, number> {
    return new Map(this.#sql.processing.all(nowUs).map(({ queue_id, n }) => [queue_id, n]))
  }
}
