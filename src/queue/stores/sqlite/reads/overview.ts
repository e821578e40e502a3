import type { DatabaseSync } from 'node:sqlite'
import { QUEUE_MODE } from '../../../model.ts'
import type { GroupRow, QueueCounters, Reads } from '../../../store.ts'
import { countsOf, spreadOf, sumCounts } from '../../figures.ts'
import { query } from '../rows.ts'
import { GroupFiguresReader } from './group-figures.ts'
import { ALL_QUEUES, QueueFiguresReader } from './queue-figures.ts'

type Args<K extends keyof Reads> = Reads[K]['args']
type Result<K extends keyof Reads> = Reads[K]['result']

const TOP_ERRORS = 10

/** Figures over many queues at once: overview, status, metrics. Queue API 9, 11.1 and 12. */
export class Overview {
  readonly #queues: QueueFiguresReader
  readonly #groups: GroupFiguresReader
  readonly #sql

  constructor(db: DatabaseSync) {
    this.#queues = new QueueFiguresReader(db)
    this.#groups = new GroupFiguresReader(db)
    this.#sql = {
      leases: query<{ queue_id: number; leases: number; partitions: number; messages: number }>(
        db,
        `SELECT s.queue_id, count(*) AS leases, count(DISTINCT c.partition_id) AS partitions,
           sum(c.lease_left) AS messages
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
      groups: query<{ queue_name: string; group_name: string; lag: number; consumed: number }>(
        db,
        `SELECT s.queue_name, s.group_name, q.stored - s.passed AS lag, s.consumed
         FROM subscription s JOIN queue q ON q.id = s.queue_id ORDER BY s.group_name`,
      ),
    }
  }

  overview({ nowUs }: Args<'overview'>): Result<'overview'> {
    const queues = this.#queues.list(ALL_QUEUES)
    const processing = this.#queues.processing(nowUs)
    const groups: readonly GroupRow[] = this.#groups.groups({ nowUs })
    return {
      queues: queues.length,
      partitions: queues.reduce((sum, { partitions }) => sum + partitions, 0),
      namespaces: new Set(queues.map(({ namespace }) => namespace)).size,
      tasks: new Set(queues.map(({ task }) => task)).size,
      counts: sumCounts(queues.map((queue) => countsOf(queue, processing.get(queue.id) ?? 0))),
      timeLag: spreadOf(groups.map(({ maxTimeLagSeconds }) => maxTimeLagSeconds)),
      offsetLag: spreadOf(groups.map(({ totalLag }) => totalLag)),
    }
  }

  status({ queue, namespace, task, nowUs }: Args<'status'>): Result<'status'> {
    const queues = this.#queues
      .list({ ...ALL_QUEUES, namespace, task })
      .filter(({ name }) => queue === null || name === queue)
    const leases = this.#sql.leases
      .all(nowUs)
      .filter((row) => queues.some(({ id }) => id === row.queue_id))
    const inLeases = new Map(leases.map((row) => [row.queue_id, row.messages]))
    const sum = (values: readonly number[]): number => values.reduce((all, one) => all + one, 0)
    return {
      queues: queues.map(({ uuid, name, namespace: space, task: job, partitions, consumed }) => {
        return { id: uuid, name, namespace: space, task: job, partitions, totalConsumed: consumed }
      }),
      counts: sumCounts(queues.map((one) => countsOf(one, inLeases.get(one.id) ?? 0))),
      leases: {
        active: sum(leases.map((row) => row.leases)),
        partitionsWithLeases: sum(leases.map((row) => row.partitions)),
        totalBatchSize: sum(leases.map((row) => row.messages)),
        totalAcked: sum(queues.map(({ consumed }) => consumed)),
      },
      deadLetters: {
        totalMessages: sum(queues.map(({ dead }) => dead)),
        affectedPartitions: sum(
          queues.map((one) => (one.dead === 0 ? 0 : (this.#sql.dead.one(one.id)?.partitions ?? 0))),
        ),
        topErrors: this.#topErrors(queues.filter(({ dead }) => dead > 0).map(({ id }) => id)),
      },
    }
  }

  counters({ nowUs }: Args<'counters'>): readonly QueueCounters[] {
    const processing = this.#queues.processing(nowUs)
    const groups = Map.groupBy(this.#sql.groups.all(), ({ queue_name }) => queue_name)
    return this.#queues.list(ALL_QUEUES).map((queue) => ({
      queue: queue.name,
      counts: countsOf(queue, processing.get(queue.id) ?? 0),
      pushed: queue.pushed,
      groups: (groups.get(queue.name) ?? []).map(({ group_name, lag, consumed }) => {
        return { group: group_name, lag, consumed }
      }),
    }))
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
