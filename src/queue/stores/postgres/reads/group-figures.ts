import type { Statements } from '../../../../storage/index.ts'
import type { CursorRow, GroupRow, Reads } from '../../../store.ts'
import {
  cursorRow,
  type GroupColumns,
  type GroupCursorColumns,
  groupRow,
  MAX_AGED_PARTITIONS,
} from '../../group-rows.ts'
import { lagSql, oldestAfterSql } from './partition-figures.ts'
import { QUEUE_SUMS, SUBSCRIPTION_SUMS } from './queue-figures.ts'

const SECOND_US = 1_000_000

/** The ready-list holds every partition where something is deliverable or leased, and few others. */
const AGES = `SELECT count(*) AS aged, min(o.oldest) AS oldest
  FROM (SELECT c.partition_id, c.position FROM hivegate.cursor c
    WHERE c.subscription_id = s.id AND c.ready_at IS NOT NULL LIMIT ${MAX_AGED_PARTITIONS}) c
  JOIN hivegate.partition p ON p.id = c.partition_id
  CROSS JOIN LATERAL ${oldestAfterSql('c.position')} o (oldest)`

/** Every (group, queue) with its lag. */
const GROUPS = `SELECT s.group_name, s.queue_name, s.mode, s.start_at, s.registered_at, u.members,
    CASE WHEN q.id IS NULL THEN 0 ELSE t.stored - u.passed END AS lag, a.oldest,
    CASE WHEN a.aged < ${MAX_AGED_PARTITIONS} THEN a.aged
      ELSE (SELECT count(*) FROM hivegate.cursor c
        WHERE c.subscription_id = s.id AND c.ready_at IS NOT NULL) END AS lagging
  FROM hivegate.subscription s LEFT JOIN hivegate.queue q ON q.id = s.queue_id
  ${QUEUE_SUMS} ${SUBSCRIPTION_SUMS} CROSS JOIN LATERAL (${AGES}) a
  ORDER BY s.group_name, s.queue_name`

/** Every (group, queue), by name. Queue API 7.2. */
export async function readGroups(
  db: Statements,
  { nowUs }: Reads['groups']['args'],
): Promise<readonly GroupRow[]> {
  return (await db.rows<GroupColumns>('groups', GROUPS)).map((row) => groupRow(row, nowUs))
}

/** What a row says of the cursor `c` on the partition `p`; `$1` = now, `o.oldest` = its first message. */
const CURSOR = `s.group_name, s.queue_name, p.uuid, p.name, c.consumed, c.consumed_at,
  c.lease_until IS NOT NULL AND c.lease_until > $1 AS leased,
  ${lagSql('c.position')} AS lag, o.oldest`
const OLDEST = `LEFT JOIN LATERAL ${oldestAfterSql('c.position')} o (oldest) ON true`

const LAGGING = `SELECT ${CURSOR}
  FROM hivegate.subscription s
  JOIN hivegate.cursor c ON c.subscription_id = s.id AND c.ready_at IS NOT NULL
  JOIN hivegate.partition p ON p.id = c.partition_id ${OLDEST}
  WHERE o.oldest < $2::float8
  ORDER BY o.oldest, s.group_name, s.queue_name, p.id`

const DETAIL = `SELECT ${CURSOR}
  FROM hivegate.subscription s JOIN hivegate.partition p ON p.queue_id = s.queue_id
  JOIN hivegate.cursor c ON c.partition_id = p.id AND c.subscription_id = s.id AND c.started
  ${OLDEST}
  WHERE s.group_name = $2 ORDER BY s.queue_name, p.id`

/** Partitions of all groups that lag by more than a limit, the largest lag first. Queue API 7.3. */
export async function readLagging(
  db: Statements,
  { minLagSeconds, nowUs }: Reads['lagging']['args'],
): Promise<readonly CursorRow[]> {
  const before = nowUs - minLagSeconds * SECOND_US
  const rows = await db.rows<GroupCursorColumns>('lagging', LAGGING, [nowUs, before])
  return rows.map((row) => cursorRow(row, nowUs))
}

/** Every partition on which a group has begun. Queue API 7.4. */
export async function readGroupDetail(
  db: Statements,
  { group, nowUs }: Reads['groupDetail']['args'],
): Promise<readonly CursorRow[]> {
  const rows = await db.rows<GroupCursorColumns>('group_detail', DETAIL, [nowUs, group])
  return rows.map((row) => cursorRow(row, nowUs))
}
