import type { DatabaseSync } from 'node:sqlite'
import type { CursorRow, GroupRow, Reads } from '../../../store.ts'
import { cursorRow, type GroupColumns, groupRow, MAX_AGED_PARTITIONS } from '../../group-rows.ts'
import { query } from '../rows.ts'
import { PartitionFiguresReader } from './partition-figures.ts'

type Args<K extends keyof Reads> = Reads[K]['args']

type SubscriptionColumns = Omit<GroupColumns, 'lagging' | 'oldest'> & {
  readonly id: number
  readonly queue_id: number | null
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

const SUBSCRIPTION = `SELECT s.id, s.group_name, s.queue_name, s.queue_id, s.mode, s.start_at,
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
    return this.#sql.all.all().map((row) => groupRow({ ...row, ...this.#lagOf(row) }, nowUs))
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

  #lagOf({ id }: SubscriptionColumns): Pick<GroupColumns, 'lagging' | 'oldest'> {
    const made = this.#sql.ready
      .all(id, MAX_AGED_PARTITIONS)
      .flatMap((row) => this.#partitions.oldestAfter(row, row.position) ?? [])
    const oldest = made.length === 0 ? null : made.reduce((low, us) => Math.min(low, us))
    if (made.length < MAX_AGED_PARTITIONS) return { lagging: made.length, oldest }
    return { lagging: this.#sql.readyCount.one(id)?.n ?? 0, oldest }
  }

  #cursor(subscription: SubscriptionColumns, row: CursorColumns, nowUs: number): CursorRow {
    const { group_name, queue_name } = subscription
    const { uuid, name, consumed, consumed_at, lease_until } = row
    const figures = {
      lag: this.#partitions.lag(row, row.position),
      oldest: this.#partitions.oldestAfter(row, row.position),
      leased: lease_until !== null && lease_until > nowUs,
    }
    return cursorRow(
      { group_name, queue_name, uuid, name, consumed, consumed_at, ...figures },
      nowUs,
    )
  }
}
