import type { Writes } from '../../store.ts'
import type { Context } from './context.ts'
import { endLease } from './cursors.ts'
import { change } from './rows.ts'
import type { PartitionState } from './state.ts'

type Args<K extends keyof Writes> = Writes[K]['args']
type Result<K extends keyof Writes> = Writes[K]['result']

/** Takes queues and messages out of sight at once; the purge job takes the rows away. Queue API 9. */
export class Remover {
  readonly #context: Context
  readonly #sql

  constructor(context: Context) {
    this.#context = context
    const { db } = context
    this.#sql = {
      subscriptions: change(db, 'DELETE FROM subscription WHERE queue_name = ?'),
      cleared: change(db, 'INSERT OR IGNORE INTO cleared_partition (partition_id) VALUES (?)'),
    }
  }

  deleteQueue({ queue: name }: Args<'deleteQueue'>): Result<'deleteQueue'> {
    const { queues, tally } = this.#context
    const queue = queues.byName(name)
    if (queue === undefined) {
      // Groups that came before the queue are subscriptions of that name all the same.
      this.#sql.subscriptions(name)
      return { existed: false }
    }
    tally.flush()
    queues.remove(queue)
    this.#sql.subscriptions(name)
    this.#context.forget()
    // Waiting pops register anew, so that they meet a queue of the same name.
    this.#context.wake(queue, null)
    return { existed: true }
  }

  /** One step of clear: a page of partitions of the queue, or the one that is named. */
  clear(args: Args<'clearQueue'>): Result<'clearQueue'> {
    const { queues, partitions } = this.#context
    const nothing: Result<'clearQueue'> = { found: false, deleted: 0, next: null }
    const queue = queues.byName(args.queue)
    if (queue === undefined) return nothing
    if (args.partition !== null) {
      const partition = partitions.find(queue, args.partition)
      if (partition === undefined) return nothing
      return { found: true, deleted: this.#clearOne(partition), next: null }
    }
    const page = partitions.page(queue, args.after ?? 0, args.limit)
    const deleted = page.reduce((sum, partition) => sum + this.#clearOne(partition), 0)
    const next = page.length < args.limit ? null : (page.at(-1)?.id ?? null)
    return { found: true, deleted, next }
  }

  #clearOne(partition: PartitionState): number {
    const { cursors, messages, partitions, tally } = this.#context
    const end = partition.next - 1
    const deleted = messages.count(partition, 0, end)
    for (const row of cursors.ofPartition(partition.id)) {
      const passed = messages.count(partition, 0, row.position)
      tally.subscription(row.subscription_id, 'passed', -passed)
      row.position = end
      row.retry_count = 0
      row.ready_at = null
      endLease(row)
      cursors.save(row)
    }
    partition.head = partition.next
    partition.holes = 0
    partition.allReady = false
    partitions.saveTrim(partition)
    if (deleted > 0) this.#sql.cleared(partition.id)
    tally.queue(partition.queue.id, 'stored', -deleted)
    return deleted
  }
}
