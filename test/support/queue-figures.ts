import type { TestDatabase } from './postgres.ts'

/**
 * What must hold in every committed state of the queue's tables; each query lists the rows that break it. Running
 * totals, heads and holes are compared with what they count, the ready-list with what can be delivered.
 */
const BROKEN: Readonly<Record<string, string>> = {
  'stored messages of a queue': `
    SELECT q.name, s.stored, count(m.position) FROM hivegate.queue q
    LEFT JOIN hivegate.queue_sums s ON s.queue_id = q.id
    LEFT JOIN hivegate.partition p ON p.queue_id = q.id
    LEFT JOIN hivegate.message m ON m.partition_id = p.id AND m.position >= p.head
    WHERE NOT q.deleted GROUP BY q.id, s.stored HAVING coalesce(s.stored, 0) <> count(m.position)`,
  'partitions of a queue': `
    SELECT q.name, s.partitions, count(p.id) FROM hivegate.queue q
    LEFT JOIN hivegate.queue_sums s ON s.queue_id = q.id
    LEFT JOIN hivegate.partition p ON p.queue_id = q.id
    WHERE NOT q.deleted GROUP BY q.id, s.partitions HAVING coalesce(s.partitions, 0) <> count(p.id)`,
  'dead letters of a queue': `
    SELECT q.name, s.dead, count(d.id) FROM hivegate.queue q
    LEFT JOIN hivegate.queue_sums s ON s.queue_id = q.id
    LEFT JOIN hivegate.dead_letter d ON d.queue_id = q.id
    WHERE NOT q.deleted GROUP BY q.id, s.dead HAVING coalesce(s.dead, 0) <> count(d.id)`,
  'messages that a group has passed': `
    SELECT s.group_name, t.passed, count(m.position) FROM hivegate.subscription s
    LEFT JOIN hivegate.subscription_sums t ON t.subscription_id = s.id
    LEFT JOIN hivegate.cursor c ON c.subscription_id = s.id
    LEFT JOIN hivegate.partition p ON p.id = c.partition_id
    LEFT JOIN hivegate.message m ON m.partition_id = p.id AND m.position >= p.head
      AND m.position <= c.position
    GROUP BY s.id, t.passed HAVING coalesce(t.passed, 0) <> count(m.position)`,
  'members of a group': `
    SELECT s.group_name, t.members, count(c.partition_id) FROM hivegate.subscription s
    LEFT JOIN hivegate.subscription_sums t ON t.subscription_id = s.id
    LEFT JOIN hivegate.cursor c ON c.subscription_id = s.id AND c.started
    GROUP BY s.id, t.members HAVING coalesce(t.members, 0) <> count(c.partition_id)`,
  'holes of a partition': `
    SELECT p.name, p.head, p.next, p.holes, count(m.position) FROM hivegate.partition p
    LEFT JOIN hivegate.message m ON m.partition_id = p.id AND m.position >= p.head
    GROUP BY p.id HAVING p.holes <> p.next - p.head - count(m.position)`,
  'cursors that no pop would find': `
    SELECT p.name, s.group_name, c.position FROM hivegate.cursor c
    JOIN hivegate.partition p ON p.id = c.partition_id
    JOIN hivegate.subscription s ON s.id = c.subscription_id
    WHERE c.ready_at IS NULL AND EXISTS (SELECT FROM hivegate.message m
      WHERE m.partition_id = p.id AND m.position >= p.head AND m.position > c.position)`,
  'partitions without a cursor of a registered group': `
    SELECT p.name, s.group_name FROM hivegate.subscription s
    JOIN hivegate.partition p ON p.queue_id = s.queue_id
    WHERE s.mode IS NOT NULL AND NOT EXISTS (SELECT FROM hivegate.cursor c
      WHERE c.partition_id = p.id AND c.subscription_id = s.id)`,
  'leases of another size than their messages': `
    SELECT p.name, c.position, c.lease_end, c.lease_left, count(m.position) FROM hivegate.cursor c
    JOIN hivegate.subscription s ON s.id = c.subscription_id
    JOIN hivegate.partition p ON p.id = c.partition_id
    LEFT JOIN hivegate.message m ON m.partition_id = p.id AND m.position >= p.head
      AND m.position > c.position AND m.position <= c.lease_end
    WHERE c.lease_id IS NOT NULL
    GROUP BY p.id, c.partition_id, c.subscription_id HAVING c.lease_left <> count(m.position)`,
}

/** The rows that break a rule, by the rule; empty when all is well. */
export async function brokenFigures(database: TestDatabase): Promise<Record<string, unknown>> {
  const broken: Record<string, unknown> = {}
  for (const [rule, sql] of Object.entries(BROKEN)) {
    const rows = await database.query(sql)
    if (rows.length > 0) broken[rule] = rows
  }
  return broken
}

/** Deadlocks that the server had to resolve; our locks have an order, so there is none. */
export async function deadlocks(database: TestDatabase): Promise<number> {
  await database.query('SELECT pg_stat_clear_snapshot()')
  const [row] = await database.query(
    'SELECT deadlocks::int AS n FROM pg_stat_database WHERE datname = current_database()',
  )
  return Number(row?.['n'])
}
