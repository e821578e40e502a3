import type { Writes } from '../../../store.ts'
import type { Context } from '../context.ts'
import { change, query } from '../rows.ts'
import type { SubscriptionTable } from '../subscriptions.ts'

type Args = Writes['jobStep']['args']
type Result = Writes['jobStep']['result']

/** Partitions of which a dropped group's cursors are taken in one step. */
const PAGE = 500

/** Takes away rows that nobody sees any more, a few at a time; answers how many, 0 = nothing is left. */
type Task = (limit: number, nowUs: number) => number

function sqlOf(context: Context) {
  const { db } = context
  return {
    deletedQueue: query<{ id: number }>(db, 'SELECT id FROM queue WHERE deleted = 1 LIMIT 1'),
    partitionOf: query<{ id: number }>(
      db,
      'SELECT id FROM partition WHERE queue_id = ? ORDER BY id LIMIT 1',
    ),
    messages: change(
      db,
      `DELETE FROM message WHERE partition_id = ?1 AND position < ?2 AND position <=
         (SELECT position FROM message WHERE partition_id = ?1 ORDER BY position LIMIT 1) + ?3`,
    ),
    cursors: change(db, 'DELETE FROM cursor WHERE partition_id = ?'),
    ghosts: change(db, 'DELETE FROM ghost WHERE partition_id = ?'),
    partition: change(db, 'DELETE FROM partition WHERE id = ?'),
    deadLetters: change(
      db,
      'DELETE FROM dead_letter WHERE id IN (SELECT id FROM dead_letter WHERE queue_id = ? LIMIT ?)',
    ),
    dropped: change(db, 'DELETE FROM dropped_subscription WHERE queue_id = ?'),
    queue: change(db, 'DELETE FROM queue WHERE id = ?'),
    cleared: query<{ id: number; head: number }>(
      db,
      `SELECT c.partition_id AS id, coalesce(p.head, 9007199254740991) AS head
       FROM cleared_partition c LEFT JOIN partition p ON p.id = c.partition_id LIMIT 1`,
    ),
    settle: change(db, 'DELETE FROM cleared_partition WHERE partition_id = ?'),
    orphan: query<{ id: number; queue_id: number; done_to: number }>(
      db,
      'SELECT subscription_id AS id, queue_id, done_to FROM dropped_subscription LIMIT 1',
    ),
    page: query<{ id: number }>(
      db,
      'SELECT id FROM partition WHERE queue_id = ? AND id > ? ORDER BY id LIMIT ?',
    ),
    orphanCursor: change(db, 'DELETE FROM cursor WHERE partition_id = ? AND subscription_id = ?'),
    orphanTo: change(db, 'UPDATE dropped_subscription SET done_to = ? WHERE subscription_id = ?'),
    orphanDone: change(db, 'DELETE FROM dropped_subscription WHERE subscription_id = ?'),
    expired: change(
      db,
      `DELETE FROM ghost WHERE (partition_id, transaction_id) IN
         (SELECT partition_id, transaction_id FROM ghost WHERE expires_at < ? LIMIT ?)`,
    ),
    unswept: query<{ queue_id: number; group_name: string }>(
      db,
      `SELECT queue_id, group_name FROM subscription
       WHERE swept_all = 0 AND mode IS NOT NULL AND queue_id IS NOT NULL LIMIT 1`,
    ),
  }
}

/** A deleted queue: its partitions one after the other, then the dead letters, then the row. */
function deletedQueues(sql: ReturnType<typeof sqlOf>): Task {
  return (limit) => {
    const queue = sql.deletedQueue.one()
    if (queue === undefined) return 0
    const partition = sql.partitionOf.one(queue.id)
    if (partition === undefined) {
      const letters = sql.deadLetters(queue.id, limit)
      if (letters === limit) return letters
      sql.dropped(queue.id)
      return letters + sql.queue(queue.id)
    }
    const removed = sql.messages(partition.id, Number.MAX_SAFE_INTEGER, limit)
    if (removed > 0) return removed
    return sql.cursors(partition.id) + sql.ghosts(partition.id) + sql.partition(partition.id)
  }
}

/** Partitions that were cleared: messages below the head. */
function clearedPartitions(sql: ReturnType<typeof sqlOf>): Task {
  return (limit) => {
    const partition = sql.cleared.one()
    if (partition === undefined) return 0
    const removed = sql.messages(partition.id, partition.head, limit)
    return removed > 0 ? removed : sql.settle(partition.id)
  }
}

/** Cursors of groups that were deleted. */
function droppedSubscriptions(sql: ReturnType<typeof sqlOf>): Task {
  return () => {
    const orphan = sql.orphan.one()
    if (orphan === undefined) return 0
    const page = sql.page.all(orphan.queue_id, orphan.done_to, PAGE)
    for (const { id } of page) sql.orphanCursor(id, orphan.id)
    const last = page.at(-1)
    if (last === undefined || page.length < PAGE) sql.orphanDone(orphan.id)
    else sql.orphanTo(last.id, orphan.id)
    return page.length + 1
  }
}

/** Groups that still lack cursors on some partitions, so that their lag is known in full. */
function unsweptGroups(
  context: Context,
  sql: ReturnType<typeof sqlOf>,
  subscriptions: SubscriptionTable,
): Task {
  return (_, nowUs) => {
    const row = sql.unswept.one()
    const queue = row === undefined ? undefined : context.queues.byId(row.queue_id)
    const subscription = queue?.subscriptions.get(row?.group_name ?? '')
    if (queue === undefined || subscription === undefined) return 0
    subscriptions.sweep(queue, subscription, nowUs)
    return 1
  }
}

/** What the deletions and clearings of the API left to be done. */
export class Purger {
  readonly #tasks: readonly Task[]

  constructor(context: Context, subscriptions: SubscriptionTable) {
    const sql = sqlOf(context)
    this.#tasks = [
      deletedQueues(sql),
      clearedPartitions(sql),
      droppedSubscriptions(sql),
      (limit, nowUs) => sql.expired(nowUs, limit),
      unsweptGroups(context, sql, subscriptions),
    ]
  }

  /** Does a piece of the first task that has work; the token only says that there may be more. */
  step({ limit, nowUs }: Args): Result {
    for (const task of this.#tasks) {
      const deleted = task(limit, nowUs)
      if (deleted > 0) return { deleted, next: 0 }
    }
    return { deleted: 0, next: null }
  }
}
