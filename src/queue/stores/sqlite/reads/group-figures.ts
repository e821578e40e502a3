import type { DatabaseSync } from 'node:sqlite'
import type { CursorRow, GroupRow, Reads } from '../../../store.ts'
import { ageSeconds } from '../../figures.ts'
import { query } from '../rows.ts'
import { PartitionFiguresReader } from './partition-figures.ts'

type Args<K extends keyof Reads> = Reads[K]['args']

/** Lagging partitions of one group whose age is looked at; beyond it the age is that of a sample. */
const MAX_AGED_PARTITIONS = 10_000

interface SubscriptionColumns {
  readonly id: number
  readonly group_name: string
  readonly queue: string
  readonly queue_id: number | null
  readonly mode: string | null
  readonly start_at: number | null
  readonly registered_at: number | null
  readonly members: number
  readonly lag: number
}

interface CursorColumns {
  readonly id: number
  readonly uuid: string
  readonly name: string
  readonly head: number
  readonly holes: number
  readonly position: number
  readonly lease_until: number | null
  readonly consumed: number
  readonly consumed_at: number | null
}

const SUBSCRIPTION = `SELECT s.id, s.group_name, s.queue_name AS queue, s.queue_id, s.mode, s.start_at,
  s.registered_at, s.members, coalesce(q.stored - s.passed, 0) AS lag
  FROM subscription s LEFT JOIN queue q ON q.id = s.queue_id`
const CURSOR = `SELECT p.id, p.uuid, p.name, p.head, p.holes, c.position, c.lease_until, c.consumed,
  c.consumed_at FROM cursor c JOIN partition p ON p.id = c.partition_id`

/** Lags of groups. Queue API 7.2 to 7.4. */
export class GroupFiguresReader {
  readonly #partitions: PartitionFiguresReader
  readonly #sql

  constructor(db: DatabaseSync) {
    this.#partitions = new PartitionFiguresReader(db)
    this.#sql = {
      all: query<SubscriptionColumns>(db, `${SUBSCRIPTION} ORDER BY s.group_name, s.queue_name`),
      ofGroup: query<SubscriptionColumns>(
        db,
        `${SUBSCRIPTION} WHERE s.group_name = ? ORDER BY s.queue_name`,
      ),
      one: query<SubscriptionColumns>(
        db,
        `${SUBSCRIPTION} WHERE s.queue_name = ? AND s.group_name = ?`,
      ),
      ready: query<CursorColumns>(
        db,
        `${CURSOR} WHERE c.subscription_id = ? AND c.ready_at IS NOT NULL LIMIT ?`,
      ),
      readyCount: query<{ n: number }>(
        db,
        'SELECT count(*) AS n FROM cursor WHERE subscription_id = ? AND ready_at IS NOT NULL',
      ),
      started: query<CursorColumns>(
        db,
        `SELECT p.id, p.uuid, p.name, p.head, p.holes, c.position, c.lease_until, c.consumed,
           c.consumed_at
         FROM partition p CROSS JOIN cursor c ON c.partition_id = p.id
         WHERE p.queue_id = ? AND c.subscription_id = ? AND c.started = 1 ORDER BY p.id`,
      ),
    }
  }

  groups({ nowUs }: Args<'groups'>): readonly GroupRow[] {
    return this.#sql.all.all().map((row) => ({
      group: row.group_name,
      queue: row.queue,
      members: row.members,
      ...this.#lagOf(row, nowUs),
      totalLag: row.lag,
      subscriptionMode: row.mode,
      subscriptionFromUs: row.start_at,
      subscribedAtUs: row.registered_at,
    }))
  }

  /** Lag of one group on one queue; null when the group is not known there. */
  lag(queue: string, group: string): number | null {
    return this.#sql.one.one(queue, group)?.lag ?? null
  }

  lagging({ minLagSeconds, nowUs }: Args<'lagging'>): readonly CursorRow[] {
    return this.#sql.all
      .all()
      .flatMap((subscription) =>
        this.#sql.ready
          .all(subscription.id, -1)
          .map((row) => this.#cursor(subscription, row, nowUs)),
      )
      .filter((row) => row.oldestUnconsumedUs !== null && row.timeLagSeconds > minLagSeconds)
      .sort((a, b) => b.timeLagSeconds - a.timeLagSeconds)
  }

  detail({ group, nowUs }: Args<'groupDetail'>): readonly CursorRow[] {
    return this.#sql.ofGroup
      .all(group)
      .flatMap((subscription) =>
        this.#sql.started
          .all(subscription.queue_id, subscription.id)
          .map((row) => this.#cursor(subscription, row, nowUs)),
      )
  }

  #lagOf(
    { id }: SubscriptionColumns,
    nowUs: number,
  ): Pick<GroupRow, 'partitionsWithLag' | 'maxTimeLagSeconds'> {
    const oldest = this.#sql.ready
      .all(id, MAX_AGED_PARTITIONS)
      .flatMap((row) => this.#partitions.oldestAfter(row, row.position) ?? [])
    const ages = oldest.map((us) => ageSeconds(us, nowUs))
    const maxTimeLagSeconds = ages.reduce((high, age) => Math.max(high, age), 0)
    if (oldest.length < MAX_AGED_PARTITIONS) {
      return { partitionsWithLag: oldest.length, maxTimeLagSeconds }
    }
    return { partitionsWithLag: this.#sql.readyCount.one(id)?.n ?? 0, maxTimeLagSeconds }
  }

  #cursor(subscription: SubscriptionColumns, row: CursorColumns, nowUs: number): CursorRow {
    const oldestUnconsumedUs = this.#partitions.oldestAfter(row, row.position)
    return {
      group: subscription.group_name,
      queue: subscription.queue,
      partition: row.name,
      partitionId: row.uuid,
      totalConsumed: row.consumed,
      offsetLag: this.#partitions.lag(row, row.position),
      timeLagSeconds: oldestUnconsumedUs === null ? 0 : ageSeconds(oldestUnconsumedUs, nowUs),
      leaseActive: row.lease_until !== null && row.lease_until > nowUs,
      oldestUnconsumedUs,
      lastConsumedAtUs: row.consumed_at,
    }
  }
}
