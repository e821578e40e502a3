import type { Subscription } from '../../model.ts'
import { QUEUE_MODE } from '../../model.ts'
import type { Context } from './context.ts'
import { change, insert, query } from './rows.ts'
import type { CursorRow, PartitionState, QueueState, SubscriptionState } from './state.ts'

/** Partitions that one write provides with cursors: about 5 ms of work. */
const SWEEP_PARTITIONS = 500

/** Groups on queues: first contact, start positions, and the cursors made ahead of delivery. */
export class SubscriptionTable {
  readonly #context: Context
  readonly #sql

  constructor(context: Context) {
    this.#context = context
    const { db } = context
    this.#sql = {
      unbound: query<{ id: number; mode: string | null }>(
        db,
        'SELECT id, mode FROM subscription WHERE queue_name = ? AND group_name = ?',
      ),
      insert: insert(
        db,
        'INSERT INTO subscription (queue_name, queue_id, group_name) VALUES (?, ?, ?)',
      ),
      register: change(
        db,
        `UPDATE subscription SET mode = ?, start_at = ?, registered_at = ?, born_after = ?,
           swept_to = 0, swept_all = 0 WHERE id = ?`,
      ),
      swept: change(db, 'UPDATE subscription SET swept_to = ?, swept_all = ? WHERE id = ?'),
      restart: change(
        db,
        `UPDATE subscription SET mode = 'timestamp', start_at = ?, swept_to = 0, swept_all = 0
         WHERE id = ?`,
      ),
    }
  }

  /** The group's row on a queue, made without a registration if there is none. */
  ensure(queue: QueueState, group: string): SubscriptionState {
    const known = queue.subscriptions.get(group)
    if (known !== undefined) return known
    const made: SubscriptionState = {
      id: this.#sql.insert(queue.name, queue.id, group),
      group,
      queueName: queue.name,
      mode: null,
      startAtUs: null,
      bornAfter: 0,
      sweptTo: 0,
      sweptAll: false,
    }
    queue.subscriptions.set(group, made)
    return made
  }

  /** A pop's contact: registers the group at the first one, changes nothing later. Queue API 7.1. */
  contact(
    queue: QueueState,
    group: string,
    wanted: Subscription,
    nowUs: number,
  ): SubscriptionState {
    const row = this.ensure(queue, group)
    if (row.mode !== null) return row
    const { mode, startAtUs } = this.#startOf(group, wanted, nowUs)
    row.mode = mode
    row.startAtUs = startAtUs
    row.bornAfter = this.#context.partitions.newestId(queue)
    row.sweptTo = 0
    row.sweptAll = false
    this.#sql.register(mode, startAtUs, nowUs, row.bornAfter, row.id)
    return row
  }

  /** The same on a queue that does not exist yet: kept by name until it does. */
  contactUnknown(queueName: string, group: string, wanted: Subscription, nowUs: number): void {
    const known = this.#sql.unbound.one(queueName, group)
    if (known !== undefined && known.mode !== null) return
    const id = known?.id ?? this.#sql.insert(queueName, null, group)
    const { mode, startAtUs } = this.#startOf(group, wanted, nowUs)
    this.#sql.register(mode, startAtUs, nowUs, 0, id)
  }

  /** Moves the stored start; cursors that have not been started follow. Queue API 7.6. */
  restart(subscription: SubscriptionState, startAtUs: number): void {
    subscription.mode = 'timestamp'
    subscription.startAtUs = startAtUs
    subscription.sweptTo = 0
    subscription.sweptAll = false
    this.#sql.restart(startAtUs, subscription.id)
  }

  /** The position just before the first message that the group is to see. Queue API 7.1. */
  startPosition(subscription: SubscriptionState, partition: PartitionState): number {
    const { mode, startAtUs } = subscription
    const fromStart = mode === null || mode === 'all' || startAtUs === null
    const young = mode === 'new' && partition.id > subscription.bornAfter
    if (fromStart || young) return partition.head - 1
    const first = this.#context.messages.firstMadeFrom(partition, startAtUs)
    return first - 1
  }

  /** The group's cursor on a partition, made or put to its start if nothing was delivered yet. */
  cursor(subscription: SubscriptionState, partition: PartitionState, nowUs: number): CursorRow {
    const { cursors } = this.#context
    const row = cursors.get(partition.id, subscription.id)
    if (row !== undefined && (row.started === 1 || subscription.mode === 'all')) return row
    const position = this.startPosition(subscription, partition)
    if (row === undefined) return this.#makeCursor(subscription, partition, position, nowUs)
    if (row.position !== position) {
      this.#count(subscription, partition, row.position, position)
      row.position = position
      this.#settle(row, partition, nowUs)
      cursors.save(row)
    }
    return row
  }

  /** Makes the next cursors of a group; true when every partition has its own. */
  sweep(queue: QueueState, subscription: SubscriptionState, nowUs: number): boolean {
    if (subscription.sweptAll) return true
    const { partitions } = this.#context
    const page = partitions.page(queue, subscription.sweptTo, SWEEP_PARTITIONS)
    for (const partition of page) this.cursor(subscription, partition, nowUs)
    subscription.sweptTo = page.at(-1)?.id ?? subscription.sweptTo
    subscription.sweptAll = page.length < SWEEP_PARTITIONS
    this.#sql.swept(subscription.sweptTo, subscription.sweptAll ? 1 : 0, subscription.id)
    return subscription.sweptAll
  }

  /** Gives a new partition its cursors, for every group that already has all others. */
  welcome(partition: PartitionState): void {
    for (const subscription of partition.queue.subscriptions.values()) {
      if (!subscription.sweptAll) continue
      this.#context.cursors.insert(partition.id, subscription.id, 0, null)
    }
  }

  #startOf(group: string, wanted: Subscription, nowUs: number) {
    if (group === QUEUE_MODE || wanted.mode === 'all') {
      return { mode: 'all', startAtUs: null } as const
    }
    if (wanted.mode === 'timestamp') {
      return { mode: 'timestamp', startAtUs: wanted.fromUs } as const
    }
    // Later messages get later stamps, also those of this very microsecond.
    return { mode: 'new', startAtUs: this.#context.stamp(nowUs) } as const
  }

  #makeCursor(
    subscription: SubscriptionState,
    partition: PartitionState,
    position: number,
    nowUs: number,
  ): CursorRow {
    const row: CursorRow = {
      partition_id: partition.id,
      subscription_id: subscription.id,
      position,
      started: 0,
      lease_id: null,
      lease_until: null,
      lease_end: null,
      lease_left: 0,
      retry_count: 0,
      ready_at: null,
    }
    this.#settle(row, partition, nowUs)
    this.#context.cursors.insert(partition.id, subscription.id, position, row.ready_at)
    this.#count(subscription, partition, partition.head - 1, position)
    return row
  }

  #settle(row: CursorRow, partition: PartitionState, nowUs: number): void {
    row.ready_at = row.position < partition.next - 1 ? nowUs : null
    if (row.ready_at === null) partition.allReady = false
  }

  #count(
    subscription: SubscriptionState,
    partition: PartitionState,
    from: number,
    to: number,
  ): void {
    const { messages, tally } = this.#context
    const [low, high, sign] = from < to ? [from, to, 1] : [to, from, -1]
    const moved = messages.count(partition, low, high)
    if (moved > 0) tally.subscription(subscription.id, 'passed', sign * moved)
  }
}
