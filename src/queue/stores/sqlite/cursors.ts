import type { DatabaseSync } from 'node:sqlite'
import { change, query } from './rows.ts'
import type { CursorRow } from './state.ts'

const COLUMNS =
  'partition_id, subscription_id, position, started, lease_id, lease_until, lease_end, lease_left, ' +
  'retry_count, ready_at'

/** What one write adds to the totals of a cursor. */
export interface CursorGain {
  readonly consumed: number
  readonly batches: number
  readonly failed: number
}

/** The columns that a write may change, in the order of the statements. */
function stateOf(row: CursorRow) {
  return [
    row.position,
    row.started,
    row.lease_id,
    row.lease_until,
    row.lease_end,
    row.lease_left,
    row.retry_count,
    row.ready_at,
  ] as const
}

/** Statements on `cursor` and its ready-list. */
export function cursorTable(db: DatabaseSync) {
  const save = change(
    db,
    `UPDATE cursor SET position = ?, started = ?, lease_id = ?, lease_until = ?, lease_end = ?,
       lease_left = ?, retry_count = ?, ready_at = ?
     WHERE partition_id = ? AND subscription_id = ?`,
  )
  const settle = change(
    db,
    `UPDATE cursor SET position = ?, started = ?, lease_id = ?, lease_until = ?, lease_end = ?,
       lease_left = ?, retry_count = ?, ready_at = ?, consumed = consumed + ?, batches = batches + ?,
       failed = failed + ?, consumed_at = coalesce(?, consumed_at)
     WHERE partition_id = ? AND subscription_id = ?`,
  )
  const get = query<CursorRow>(
    db,
    `SELECT ${COLUMNS} FROM cursor WHERE partition_id = ? AND subscription_id = ?`,
  )
  // Cursors of a deleted group stay until they are purged, yet nobody may see them.
  const ofPartition = query<CursorRow>(
    db,
    `SELECT ${COLUMNS} FROM cursor c WHERE partition_id = ?
       AND EXISTS (SELECT 1 FROM subscription s WHERE s.id = c.subscription_id)`,
  )
  const byLease = query<CursorRow>(db, `SELECT ${COLUMNS} FROM cursor WHERE lease_id = ?`)
  const first = query<{ partition_id: number; ready_at: number }>(
    db,
    `SELECT partition_id, ready_at FROM cursor WHERE subscription_id = ? AND ready_at IS NOT NULL
     ORDER BY ready_at, partition_id LIMIT 1`,
  )
  return {
    get: (partitionId: number, subscriptionId: number) => get.one(partitionId, subscriptionId),
    /** The cursors of every group on a partition. */
    ofPartition: (partitionId: number) => ofPartition.all(partitionId),
    /** Every cursor that has this lease on record, run out or not. */
    byLease: (leaseId: string) => byLease.all(leaseId),

    /** (partition, subscription, position, ready_at) */
    insert: change(
      db,
      `INSERT INTO cursor (partition_id, subscription_id, position, ready_at) VALUES (?, ?, ?, ?)`,
    ),

    /** (partition, subscription) */
    remove: change(db, 'DELETE FROM cursor WHERE partition_id = ? AND subscription_id = ?'),

    /** Writes everything but the totals. */
    save: (row: CursorRow) => save(...stateOf(row), row.partition_id, row.subscription_id),

    /** The same, and adds to the totals; `atUs` is set when something was consumed. */
    settle: (row: CursorRow, by: CursorGain, atUs: number | null) =>
      settle(
        ...stateOf(row),
        by.consumed,
        by.batches,
        by.failed,
        atUs,
        row.partition_id,
        row.subscription_id,
      ),

    /** The first entry of a ready-list, due or not. */
    first: (subscriptionId: number) => first.one(subscriptionId),

    /** A push found these groups with nothing to deliver. (ready_at, partition) */
    markReady: change(
      db,
      'UPDATE cursor SET ready_at = ? WHERE partition_id = ? AND ready_at IS NULL',
    ),

    /** Cursors that wait for a delay or window look again at once. (now, subscription, now) */
    lookAgain: change(
      db,
      `UPDATE cursor SET ready_at = ? WHERE subscription_id = ? AND ready_at > ?
         AND lease_id IS NULL`,
    ),
  }
}

export type CursorTable = ReturnType<typeof cursorTable>

/** True while a lease is on record and has not run out. */
export function leaseLives(row: CursorRow, nowUs: number): boolean {
  return row.lease_id !== null && row.lease_until !== null && row.lease_until > nowUs
}

/** Takes the lease off the cursor, live or run out. */
export function endLease(row: CursorRow): void {
  row.lease_id = null
  row.lease_until = null
  row.lease_end = null
  row.lease_left = 0
}
