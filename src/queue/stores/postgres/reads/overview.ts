import type { Statements } from '../../../../storage/index.ts'
import { QUEUE_MODE } from '../../../model.ts'
import type { QueueCounters, Reads } from '../../../store.ts'
import { countersOf, type GroupLag, overviewOf, statusOf, TOP_ERRORS } from '../../overview-rows.ts'
import { readGroups } from './group-figures.ts'
import { ALL_NAMES, listQueues, QUEUE_SUMS, SUBSCRIPTION_SUMS } from './queue-figures.ts'

type Args<K extends keyof Reads> = Reads[K]['args']
type Result<K extends keyof Reads> = Promise<Reads[K]['result']>

/** All queues as one. Queue API 9. */
export async function readOverview(
  db: Statements,
  { nowUs }: Args<'overview'>,
): Result<'overview'> {
  const queues = await listQueues(db, ALL_NAMES, nowUs)
  const groups = await readGroups(db, { nowUs })
  return overviewOf(queues, groups)
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
  if (queueIds.length === 0) return { deadPartitions: 0, topErrors: [] }
  const [dead] = await db.rows<{ n: number }>('dead_partitions', DEAD_PARTITIONS, [queueIds])
  const topErrors = await db.rows<{ error: string; count: number }>('top_errors', ERRORS, [
    queueIds,
  ])
  return { deadPartitions: dead?.n ?? 0, topErrors }
}

/** The stored figures of some queues. Queue API 11.1. */
export async function readStatus(
  db: Statements,
  { nowUs, ...filter }: Args<'status'>,
): Result<'status'> {
  const queues = await listQueues(db, { ...ALL_NAMES, ...filter }, nowUs)
  const ids = queues.map(({ id }) => id)
  const [leases] = await db.rows<Leases>('status_leases', LEASES, [nowUs, ids])
  const withDead = queues.filter(({ dead }) => dead > 0).map(({ id }) => id)
  return statusOf(queues, {
    leases: leases?.leases ?? 0,
    leasedPartitions: leases?.partitions ?? 0,
    ...(await deadLetters(db, withDead)),
  })
}

const GROUP_LAGS = `SELECT s.queue_name, s.group_name, t.stored - u.passed AS lag, u.consumed
  FROM hivegate.subscription s JOIN hivegate.queue q ON q.id = s.queue_id
  ${QUEUE_SUMS} ${SUBSCRIPTION_SUMS} ORDER BY s.group_name`

/** What metrics show of each queue. Queue API 12. */
export async function readCounters(
  db: Statements,
  { nowUs }: Args<'counters'>,
): Promise<readonly QueueCounters[]> {
  const queues = await listQueues(db, ALL_NAMES, nowUs)
  const lags = await db.rows<GroupLag>('group_lags', GROUP_LAGS)
  return countersOf(queues, lags)
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
