import type { CursorRow, GroupRow } from '../store.ts'
import { ageSeconds } from './figures.ts'
import { isSet, type StoredFlag } from './stored-flags.ts'

/** Lagging partitions of one group whose age is looked at; beyond it the age is that of a sample. */
export const MAX_AGED_PARTITIONS = 10_000

/** One group on one queue with its lag; moments are in microseconds. */
export interface GroupColumns {
  readonly group_name: string
  readonly queue_name: string
  readonly mode: string | null
  readonly start_at: number | null
  readonly registered_at: number | null
  readonly members: number
  readonly lag: number
  /** Partitions that lag. */
  readonly lagging: number
  /** When the oldest unconsumed message was made; null when there is none. */
  readonly oldest: number | null
}

/** What of a deleted group's row lives on in the one that replaces it. Queue API 7.5. */
export interface KeptSubscription {
  readonly queue_name: string
  readonly queue_id: number | null
  readonly mode: string | null
  readonly start_at: number | null
  readonly registered_at: number | null
  /** Partitions with a higher id came after the registration. */
  readonly born_after: number
}

/** One partition of a group; moments are in microseconds. */
export interface GroupCursorColumns {
  readonly group_name: string
  readonly queue_name: string
  readonly uuid: string
  readonly name: string
  readonly consumed: number
  readonly consumed_at: number | null
  readonly leased: StoredFlag
  readonly lag: number
  readonly oldest: number | null
}

function lagSeconds(oldest: number | null, nowUs: number): number {
  return oldest === null ? 0 : ageSeconds(oldest, nowUs)
}

/** A group as lists show it. Queue API 7.2. */
export function groupRow(row: GroupColumns, nowUs: number): GroupRow {
  return {
    group: row.group_name,
    queue: row.queue_name,
    members: row.members,
    partitionsWithLag: row.lagging,
    totalLag: row.lag,
    maxTimeLagSeconds: lagSeconds(row.oldest, nowUs),
    subscriptionMode: row.mode,
    subscriptionFromUs: row.start_at,
    subscribedAtUs: row.registered_at,
  }
}

/** A partition of a group as lists show it. Queue API 7.3 and 7.4. */
export function cursorRow(row: GroupCursorColumns, nowUs: number): CursorRow {
  return {
    group: row.group_name,
    queue: row.queue_name,
    partition: row.name,
    partitionId: row.uuid,
    totalConsumed: row.consumed,
    offsetLag: row.lag,
    timeLagSeconds: lagSeconds(row.oldest, nowUs),
    leaseActive: isSet(row.leased),
    oldestUnconsumedUs: row.oldest,
    lastConsumedAtUs: row.consumed_at,
  }
}
