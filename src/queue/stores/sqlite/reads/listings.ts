import type { DatabaseSync } from 'node:sqlite'
import type { LabelRow, Reads } from '../../../store.ts'
import { ALL_QUEUES, queueRow } from '../../figures.ts'
import { labelRows } from '../../overview-rows.ts'
import { query } from '../rows.ts'
import { type PartitionColumns, PartitionFiguresReader } from './partition-figures.ts'
import { QueueFiguresReader } from './queue-figures.ts'

type Args<K extends keyof Reads> = Reads[K]['args']
type Result<K extends keyof Reads> = Reads[K]['result']

const PARTITION = `SELECT p.id, p.uuid, p.name, q.name AS queue, p.created_at, p.head, p.holes
  FROM partition p JOIN queue q ON q.id = p.queue_id AND q.deleted = 0`

/** Lists of queues, partitions, namespaces and tasks. Queue API 9. */
export class Listings {
  readonly #queues: QueueFiguresReader
  readonly #partitions: PartitionFiguresReader
  readonly #sql

  constructor(db: DatabaseSync) {
    this.#queues = new QueueFiguresReader(db)
    this.#partitions = new PartitionFiguresReader(db)
    this.#sql = {
      ofQueue: query<PartitionColumns>(
        db,
        `${PARTITION} WHERE p.queue_id = ? ORDER BY p.id LIMIT ? OFFSET ?`,
      ),
      all: query<PartitionColumns>(db, `${PARTITION} ORDER BY p.id LIMIT ? OFFSET ?`),
    }
  }

  queues(args: Args<'queues'>): Result<'queues'> {
    const queues = this.#queues.live(args, args.nowUs)
    const rows = queues.map((queue) => queueRow(queue, queue.processing))
    return { rows, total: this.#queues.total(args) }
  }

  queueDetail({ queue: name, nowUs }: Args<'queueDetail'>): Result<'queueDetail'> {
    const queue = this.#queues.byName(name)
    if (queue === undefined) return null
    const partitions = this.#sql.ofQueue
      .all(queue.id, -1, 0)
      .map((partition) => this.#partitions.row(partition, nowUs))
    const processing = partitions.reduce((sum, { counts }) => sum + counts.processing, 0)
    return { queue: queueRow(queue, processing), partitions }
  }

  partitions({ queue: name, limit, offset, nowUs }: Args<'partitions'>): Result<'partitions'> {
    const queues = name === null ? this.#queues.list(ALL_QUEUES) : [this.#queues.byName(name)]
    const total = queues.reduce((sum, queue) => sum + (queue?.partitions ?? 0), 0)
    const rows =
      name === null
        ? this.#sql.all.all(limit, offset)
        : this.#sql.ofQueue.all(queues[0]?.id ?? 0, limit, offset)
    return { rows: rows.map((partition) => this.#partitions.row(partition, nowUs)), total }
  }

  namespaces(): readonly LabelRow[] {
    return labelRows(this.#queues.list(ALL_QUEUES), (queue) => queue.namespace)
  }

  tasks(): readonly LabelRow[] {
    return labelRows(this.#queues.list(ALL_QUEUES), (queue) => queue.task)
  }
}
