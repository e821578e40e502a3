import type { Writes } from '../../store.ts'
import type { KeptSubscription } from '../group-rows.ts'
import type { Context } from './context.ts'
import { change, query } from './rows.ts'
import type { QueueState, SubscriptionState } from './state.ts'
import type { SubscriptionTable } from './subscriptions.ts'

type Args<K extends keyof Writes> = Writes[K]['args']
type Result<K extends keyof Writes> = Writes[K]['result']

interface Row extends KeptSubscription {
  readonly id: number
  readonly members: number
}

/** Consumer groups as a whole: deletion and a moved start. Queue API 7.5 and 7.6. */
export class GroupDesk {
  readonly #context: Context
  readonly #subscriptions: SubscriptionTable
  readonly #sql

  constructor(context: Context, subscriptions: SubscriptionTable) {
    this.#context = context
    this.#subscriptions = subscriptions
    const { db } = context
    this.#sql = {
      rows: query<Row>(
        db,
        `SELECT id, queue_name, queue_id, mode, start_at, registered_at, born_after, members
         FROM subscription
         WHERE group_name = ?1 AND (?2 IS NULL OR queue_name = ?2)`,
      ),
      remove: change(db, 'DELETE FROM subscription WHERE id = ?'),
      drop: change(
        db,
        'INSERT INTO dropped_subscription (subscription_id, queue_id) VALUES (?, ?)',
      ),
      insert: change(
        db,
        `INSERT INTO subscription
           (queue_name, queue_id, group_name, mode, start_at, registered_at, born_after)
         VALUES (?, ?, ?, ?, ?, ?, ?)`,
      ),
      startUnbound: change(
        db,
        `UPDATE subscription SET mode = 'timestamp', start_at = ?
         WHERE group_name = ? AND queue_id IS NULL AND mode IS NOT NULL`,
      ),
    }
  }

  /** Cursors, leases and retry counts go; the subscription too when its metadata is to go. */
  delete({ group, queue, deleteMetadata }: Args<'deleteGroup'>): Result<'deleteGroup'> {
    this.#context.tally.flush()
    const rows = this.#sql.rows.all(group, queue)
    for (const row of rows) {
      this.#sql.remove(row.id)
      if (!deleteMetadata && row.mode !== null) this.#renew(row, group)
      if (row.queue_id === null) continue
      this.#sql.drop(row.id, row.queue_id)
      const found = this.#context.queues.byId(row.queue_id)
      if (found !== undefined) this.#context.wake(found, null)
    }
    this.#context.forget()
    return {
      deletedPartitions: rows.reduce((sum, { members }) => sum + members, 0),
      metadataDeleted: deleteMetadata && rows.some(({ mode }) => mode !== null),
    }
  }

  /** Registered subscriptions of the group get a new start; those of unknown queues too. */
  updateSubscription(args: Args<'updateSubscription'>): Result<'updateSubscription'> {
    const { group, startAtUs } = args
    let rowsUpdated = this.#sql.startUnbound(startAtUs, group)
    for (const row of this.#sql.rows.all(group, null)) {
      const found = this.#live(row, group)
      if (found === undefined || found.subscription.mode === null) continue
      this.#subscriptions.restart(found.subscription, startAtUs)
      this.#context.wake(found.queue, null)
      rowsUpdated += 1
    }
    return { rowsUpdated }
  }

  /** A new id leaves the old cursors behind at once; the purge job takes them away. */
  #renew(row: Row, group: string): void {
    const { queue_name, queue_id, mode, start_at, registered_at, born_after } = row
    this.#sql.insert(queue_name, queue_id, group, mode, start_at, registered_at, born_after)
  }

  #live(
    row: Row,
    group: string,
  ): { queue: QueueState; subscription: SubscriptionState } | undefined {
    const queue = row.queue_id === null ? undefined : this.#context.queues.byId(row.queue_id)
    const subscription = queue?.subscriptions.get(group)
    return queue === undefined || subscription === undefined ? undefined : { queue, subscription }
  }
}
