import type { Writes } from '../../../store.ts'
import type { Context } from '../context.ts'
import { leaseLives } from '../cursors.ts'
import { change, query } from '../rows.ts'
import type { PartitionState } from '../state.ts'

type Args = Writes['jobStep']['args']
type Result = Writes['jobStep']['result']

/** Partitions that one step looks at: about 2 ms. */
const PAGE = 500

interface Candidate {
  readonly id: number
  readonly created_at: number
  readonly stored: number
}

/** Removes partitions that are empty and have been idle for long. Queue API 16. */
export class PartitionCleaner {
  readonly #context: Context
  readonly #sql

  constructor(context: Context) {
    this.#context = context
    const { db } = context
    this.#sql = {
      page: query<Candidate>(
        db,
        `SELECT p.id, p.created_at, EXISTS
           (SELECT 1 FROM message m WHERE m.partition_id = p.id AND m.position >= p.head) AS stored
         FROM partition p WHERE p.id > ? ORDER BY p.id LIMIT ${PAGE}`,
      ),
      touched: query<{ at: number | null }>(
        db,
        'SELECT max(consumed_at) AS at FROM cursor WHERE partition_id = ?',
      ),
      cursors: change(db, 'DELETE FROM cursor WHERE partition_id = ?'),
      ghosts: change(db, 'DELETE FROM ghost WHERE partition_id = ?'),
      remove: change(db, 'DELETE FROM partition WHERE id = ?'),
    }
  }

  step({ after, idleUs, nowUs }: Args): Result {
    const beforeUs = nowUs - idleUs
    const page = this.#sql.page.all(after ?? 0)
    const idle = page
      .filter((row) => row.stored === 0 && row.created_at < beforeUs)
      .flatMap(({ id }) => this.#context.partitions.byId(id) ?? [])
      .filter((partition) => this.#idle(partition, beforeUs, nowUs))
    for (const partition of idle) this.#remove(partition)
    // Totals on their way are kept; the remembered partitions must not come back to life.
    if (idle.length > 0) this.#context.forget()
    return { deleted: idle.length, next: page.length < PAGE ? null : (page.at(-1)?.id ?? null) }
  }

  #idle(partition: PartitionState, beforeUs: number, nowUs: number): boolean {
    const consumedAt = this.#sql.touched.one(partition.id)?.at ?? 0
    if (Math.max(partition.stampUs, consumedAt) >= beforeUs) return false
    const { cursors } = this.#context
    return !cursors.ofPartition(partition.id).some((row) => leaseLives(row, nowUs))
  }

  #remove(partition: PartitionState): void {
    const { cursors, tally } = this.#context
    for (const row of cursors.ofPartition(partition.id)) {
      if (row.started === 1) tally.subscription(row.subscription_id, 'members', -1)
    }
    this.#sql.cursors(partition.id)
    this.#sql.ghosts(partition.id)
    this.#sql.remove(partition.id)
    tally.queue(partition.queue.id, 'partitions', -1)
    this.#context.note(partition.queue, 'partitionsDeleted')
  }
}
