import type { Statements } from '../../../../storage/index.ts'
import { QUEUE_MODE } from '../../../model.ts'
import type { QueueCounters, Reads } from '../../../store.ts'
import { countsOf, spreadOf, sumCounts } from '../../figures.ts'
import { readGroups } from './group-figures.ts'
import { ALL_QUEUES, listQueues, QUEUE_SUMS, SUBSCRIPTION_SUMS } from './queue-figures.ts'

type Args<K extends keyof Reads> = Reads[K]['args']
type Result<K extends keyof Reads> = Promise<Reads[K]['result']>

const TOP_ERRORS = 10

function sumOf<T>(rows: readonly T[], pick: (row: T) => number): number {
  return rows.reduce((sum, row) => sum + pick(row), 0)
}

/** All queues as one. Queue API 9. */
export async function readOverview(
  db: Statements,
  { nowUs }: Args<'overview'>,
): Result<'overview'> {
  const queues = await listQueues(db, ALL_QUEUES, nowUs)
  const groups = await readGroups(db, { nowUs })
  return {
    queues: queues.length,
    partitions: sumOf(queues, ({ partitions }) => partitions),
    namespaces: new Set(queues.map(({ namespace }) => namespace)).size,
    tasks: new Set(queues.map(({ task }) => task)).size,
    counts: sumCounts(queues.map((queue) => countsOf(queue, queue.processing))),
    timeLag: spreadOf(groups.map(({ maxTimeLagSeconds }) => maxTimeLagSeconds)),
    offsetLag: spreadOf(groups.map(({ totalLag }) => totalLag)),
  }
}

interface Leases {
  readonly leases: number
  readonly partitions: number
}

/** `$1` = now, `$2` = queues. */
const LEASES = `SELECT count(*) AS leases, count(DISTINCT c.partition_id) AS partitions
  FROM hivegate.cursor c JOIN hivegate.subscription s ON s.id = c.subscription_id
  WHERE c.lease_id IS NOT NULL AND c.lease_until > $1 AND s.queue_id = ANY($2::bigint[])`

const DEAD_PARTITIONS = `SELECT count(DISTINCT partition_id) AS n
  FROM hivegate.dead_letter WHERE queue_id = ANY($1::bigint[])`

const ERRORS = `SELECT coalesce(error, '') AS error, count(*) AS count
  FROM hivegate.dead_letter WHERE queue_id = ANY($1::bigint[])
  GROUP BY 1 ORDER BY count DESC, error LIMIT ${TOP_ERRORS}`

async function deadLetters(db: Statements, queueIds: readonly number[]) {
  if (queueIds.length === 0) return { affectedPartitions: 0, topErrors: [] }
  const [dead] = await db.rows<{ n: number }>('dead_partitions', DEAD_PARTITIONS, [queueIds])
  const topErrors = await db.rows<{ error: string; count: number }>('top_errors', ERRORS, [
    queueIds,
  ])
  return { affectedPartitions: dead?.n ?? 0, topErrors }
}

/** The stored figures of some queues. Queue API 11.1. */
export async function readStatus(
  db: Statements,
  { nowUs, ...filter }: Args<'status'>,
): Result<'status'> {
  const queues = await listQueues(db, { ...ALL_QUEUES, ...filter }, nowUs)
  const ids = queues.map(({ id }) => id)
  const [leases] = await db.rows<Leases>('status_leases', LEASES, [nowUs, ids])
  const withDead = queues.filter(({ dead }) => dead > 0).map(({ id }) => id)
  return {
    queues: queues.map(({ uuid, name, namespace, task, partitions, consumed }) => {
      return { id: uuid, name, namespace, task, partitions, totalConsumed: consumed }
    }),
    counts: sumCounts(queues.map((one) => countsOf(one, one.processing))),
    leases: {
      active: leases?.leases ?? 0,
      partitionsWithLeases: leases?.partitions ?? 0,
      totalBatchSize: sumOf(queues, ({ processing }) => processing),
      totalAcked: sumOf(queues, ({ consumed }) => consumed),
    },
    deadLetters: {
      totalMessages: sumOf(queues, ({ dead }) => dead),
      ...(await deadLetters(db, withDead)),
    },
  }
}

interface GroupLag {
  readonly queue_name: string
  readonly group_name: string
  readonly lag: number
  readonly consumed: number
}

const GROUP_LAGS = `SELECT s.queue_name, s.group_name, t.stored - u.passed AS lag, u.consumed
  FROM hivegate.subscription s JOIN hivegate.queue q ON q.id = s.queue_id
  ${QUEUE_SUMS} ${SUBSCRIPTION_SUMS} ORDER BY s.group_name`

/** What metrics show of each queue. Queue API 12. */
export async function readCounters(
  db: Statements,
  { nowUs }: Args<'counters'>,
): Promise<readonly QueueCounters[]> {
  const queues = await listQueues(db, ALL_QUEUES, nowUs)
  const lags = await db.rows<GroupLag>('group_lags', GROUP_LAGS)
  const groups = Map.groupBy(lags, ({ queue_name }) => queue_name)
  return queues.map((queue) => ({
    queue: queue.name,
    counts: countsOf(queue, queue.processing),
    pushed: queue.pushed,
    groups: (groups.get(queue.name) ?? []).map(({ group_name, lag, consumed }) => {
      return { group: group_name, lag, consumed }
    }),
  }))
}

const DEPTH = `SELECT coalesce(t.stored - u.passed, t.stored) AS pending
  FROM hivegate.queue q ${QUEUE_SUMS}
  LEFT JOIN hivegate.subscription s ON s.queue_name = q.name AND s.group_name = $2
  LEFT JOIN LATERAL (SELECT coalesce(sum(x.passed), 0) AS passed
    FROM hivegate.subscription_total x WHERE x.subscription_id = s.id) u ON s.id IS NOT NULL
  WHERE q.name = $1 AND NOT q.deleted`

/** Unconsumed messages of one group. */
export async function readDepth(db: Statements, { queue, group }: Args<'depth'>): Result<'depth'> {
  const values = [queue, group === '' ? QUEUE_MODE : group]
  const [row] = await db.rows<{ pending: number }>('depth', DEPTH, values)
  return row ?? null
}
