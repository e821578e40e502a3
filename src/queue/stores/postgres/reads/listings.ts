import type { Statements } from '../../../../storage/index.ts'
import type { Reads } from '../../../store.ts'
import { queueRow } from '../../figures.ts'
import { labelRows } from '../../overview-rows.ts'
import { listPartitions } from './partition-figures.ts'
import { ALL_NAMES, countQueues, listQueues } from './queue-figures.ts'

type Args<K extends keyof Reads> = Reads[K]['args']
type Result<K extends keyof Reads> = Promise<Reads[K]['result']>

/** Queues, the newest first, and how many match in all. */
export async function readQueues(db: Statements, args: Args<'queues'>): Result<'queues'> {
  const filter = { ...args, queue: null }
  const rows = await listQueues(db, filter, args.nowUs)
  const whole = filter.limit === null && filter.offset === 0
  const total = whole ? rows.length : await countQueues(db, filter)
  return { rows: rows.map((queue) => queueRow(queue, queue.processing)), total }
}

/** One queue with its partitions. */
export async function readQueueDetail(
  db: Statements,
  { queue: name, nowUs }: Args<'queueDetail'>,
): Result<'queueDetail'> {
  const [queue] = await listQueues(db, { ...ALL_NAMES, queue: name }, nowUs)
  if (queue === undefined) return null
  const partitions = await listPartitions(db, { queueId: queue.id, limit: null, offset: 0, nowUs })
  const processing = partitions.reduce((sum, { counts }) => sum + counts.processing, 0)
  return { queue: queueRow(queue, processing), partitions }
}

/** Partitions of one queue or of all, in the order of their making. */
export async function readPartitions(
  db: Statements,
  { queue: name, limit, offset, nowUs }: Args<'partitions'>,
): Result<'partitions'> {
  const [found] = await db.rows<{ id: number | null; total: number }>(
    name === null ? 'partition_total' : 'partition_total_of',
    `SELECT max(q.id) AS id, coalesce(sum(x.partitions), 0) AS total
     FROM hivegate.queue q LEFT JOIN hivegate.queue_total x ON x.queue_id = q.id
     WHERE NOT q.deleted ${name === null ? '' : 'AND q.name = $1'}`,
    name === null ? [] : [name],
  )
  const { id = null, total = 0 } = found ?? {}
  if (id === null) return { rows: [], total: 0 }
  const queueId = name === null ? null : id
  return { rows: await listPartitions(db, { queueId, limit, offset, nowUs }), total }
}

/** Sums over the queues of each namespace. */
export async function readNamespaces(
  db: Statements,
  { nowUs }: Args<'namespaces'>,
): Result<'namespaces'> {
  return labelRows(await listQueues(db, ALL_NAMES, nowUs), ({ namespace }) => namespace)
}

/** Sums over the queues of each task. */
export async function readTasks(db: Statements, { nowUs }: Args<'tasks'>): Result<'tasks'> {
  return labelRows(await listQueues(db, ALL_NAMES, nowUs), ({ task }) => task)
}
