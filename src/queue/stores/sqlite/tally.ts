import type { DatabaseSync } from 'node:sqlite'
import { change } from './rows.ts'

/** Running totals of a queue that a write may change. */
export type QueueTotal = 'partitions' | 'pushed' | 'stored' | 'dead'
/** Running totals of a subscription. */
export type SubscriptionTotal = 'passed' | 'members' | 'consumed' | 'failed'

type Sums<K extends string> = Record<K, number>

/**
 * Adds up the changes of running totals during one batch and writes each row once at its end: the row
 * of a busy queue would otherwise be rewritten for every message.
 */
export class Tally {
  readonly #queues = new Map<number, Sums<QueueTotal>>()
  readonly #subscriptions = new Map<number, Sums<SubscriptionTotal>>()
  readonly #writeQueue
  readonly #writeSubscription

  constructor(db: DatabaseSync) {
    this.#writeQueue = change(
      db,
      `UPDATE queue SET partitions = partitions + ?, pushed = pushed + ?, stored = stored + ?,
         dead = dead + ? WHERE id = ?`,
    )
    this.#writeSubscription = change(
      db,
      `UPDATE subscription SET passed = passed + ?, members = members + ?, consumed = consumed + ?,
         failed = failed + ? WHERE id = ?`,
    )
  }

  queue(id: number, total: QueueTotal, by: number): void {
    let sums = this.#queues.get(id)
    if (sums === undefined) {
      sums = { partitions: 0, pushed: 0, stored: 0, dead: 0 }
      this.#queues.set(id, sums)
    }
    sums[total] += by
  }

  subscription(id: number, total: SubscriptionTotal, by: number): void {
    let sums = this.#subscriptions.get(id)
    if (sums === undefined) {
      sums = { passed: 0, members: 0, consumed: 0, failed: 0 }
      this.#subscriptions.set(id, sums)
    }
    sums[total] += by
  }

  /** Writes what has been added up; before a savepoint and at the end of a batch. */
  flush(): void {
    for (const [id, sum] of this.#queues) {
      this.#writeQueue(sum.partitions, sum.pushed, sum.stored, sum.dead, id)
    }
    for (const [id, sum] of this.#subscriptions) {
      this.#writeSubscription(sum.passed, sum.members, sum.consumed, sum.failed, id)
    }
    this.forget()
  }

  /** Drops what has been added up; after a rollback. */
  forget(): void {
    this.#queues.clear()
    this.#subscriptions.clear()
  }
}
