import type { DatabaseSync } from 'node:sqlite'
import { QUEUE_MODE } from '../../../model.ts'
import type { QueueCounters, Reads } from '../../../store.ts'
import { ALL_QUEUES } from '../../figures.ts'
import {
  countersOf,
  type GroupLag,
  overviewOf,
  statusOf,
  sumOf,
  TOP_ERRORS,
} from '../../overview-rows.ts'
import { query } from '../rows.ts'
import { GroupFiguresReader } from './group-figures.ts'
import { QueueFiguresReader } from './queue-figures.ts'

type Args<K extends keyof Reads> = Reads[K]['args']
type Result<K extends keyof Reads> = Reads[K]['result']

/** Figures over many queues at once: overview, status, metrics. Queue API 9, 11.1 and 12. */
export class Overview {
  readonly #queues: QueueFiguresReader
  readonly #groups: GroupFiguresReader
  readonly #sql

  constructor(db: DatabaseSync) {
    this.#queues = new QueueFiguresReader(db)
    this.#groups = new GroupFiguresReader(db)
    this.#sql = {
      leases: query<{ queue_id: number; leases: number; partitions: number }>(
        db,
        `SELECT s.queue_id, count(*) AS leases, count(DISTINCT c.partition_id) AS partitions
         FROM cursor c JOIN subscription s ON s.id = c.subscription_id
         WHERE c.lease_id IS NOT NULL AND c.lease_until > ? GROUP BY s.queue_id`,
      ),
      dead: query<{ partitions: number }>(
        db,
        'SELECT count(DISTINCT partition_id) AS partitions FROM dead_letter WHERE queue_id = ?',
      ),
      errors: query<{ error: string; count: number }>(
        db,
        `SELECT coalesce(error, '') AS error, count(*) AS count FROM dead_letter
         WHERE queue_id = ? GROUP BY error ORDER BY count DESC, error LIMIT ${TOP_ERRORS}`,
      ),
      groups: query<GroupLag>(
        db,
        `SELECT s.queue_name, s.group_name, q.stored - s.passed AS lag, s.consumed
         FROM subscription s JOIN queue q ON q.id = s.queue_id ORDER BY s.group_name`,
      ),
    }
  }

  overview({ nowUs }: Args<'overview'>): Result<'overview'> {
    return overviewOf(this.#queues.live(ALL_QUEUES, nowUs), this.#groups.groups({ nowUs }))
  }

  status({ queue, namespace, task, nowUs }: Args<'status'>): Result<'status'> {
    const queues = this.#queues
      .live({ ...ALL_QUEUES, namespace, task }, nowUs)
      .filter(({ name }) => queue === null || name === queue)
    const leases = this.#sql.leases
      .all(nowUs)
      .filter((row) => queues.some(({ id }) => id === row.queue_id))
    const withDead = queues.filter(({ dead }) => dead > 0).map(({ id }) => id)
    return statusOf(queues, {
      leases: sumOf(leases, (row) => row.leases),
      leasedPartitions: sumOf(leases, (row) => row.partitions),
      deadPartitions: sumOf(withDead, (id) => this.#sql.dead.one(id)?.partitions ?? 0),
      topErrors: this.#topErrors(withDead),
    })
  }

  counters({ nowUs }: Args<'counters'>): readonly QueueCounters[] {
    return countersOf(this.#queues.live(ALL_QUEUES, nowUs), this.#sql.groups.all())
  }

  depth({ queue: name, group }: Args<'depth'>): Result<'depth'> {
    const queue = this.#queues.byName(name)
    if (queue === undefined) return null
    const lag = this.#groups.lag(name, group === '' ? QUEUE_MODE : group)
    return { pending: lag ?? queue.stored }
  }

  #topErrors(queueIds: readonly number[]): readonly { error: string; count: number }[] {
    const sums = new Map<string, number>()
    for (const { error, count } of queueIds.flatMap((id) => this.#sql.errors.all(id))) {
      sums.set(error, (sums.get(error) ?? 0) + count)
    }
    return [...sums]
      .map(([error, count]) => ({ error, count }))
      .sort((a, b) => b.count - a.count || (a.error < b.error ? -1 : 1))
      .slice(0, TOP_ERRORS)
  }
}
