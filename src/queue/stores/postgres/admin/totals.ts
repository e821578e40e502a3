import type { Tx } from '../../../../storage/index.ts'

/** What is added to the running totals of one queue. */
export interface QueueGain {
  readonly id: number
  readonly partitions?: number
  readonly stored?: number
  readonly dead?: number
}

/** What is added to the running totals of one group on one queue. */
export interface SubscriptionGain {
  readonly id: number
  readonly passed?: number
  readonly members?: number
}

const QUEUE_TOTALS = `
  INSERT INTO hivegate.queue_total AS t (queue_id, slot, partitions, stored, dead)
  SELECT id, hivegate.total_slot(), partitions, stored, dead
  FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::bigint[]) g (id, partitions, stored, dead)
  ORDER BY id
  ON CONFLICT (queue_id, slot) DO UPDATE SET partitions = t.partitions + excluded.partitions,
    stored = t.stored + excluded.stored, dead = t.dead + excluded.dead`

const SUBSCRIPTION_TOTALS = `
  INSERT INTO hivegate.subscription_total AS t (subscription_id, slot, passed, members)
  SELECT id, hivegate.total_slot(), passed, members
  FROM unnest($1::bigint[], $2::bigint[], $3::bigint[]) g (id, passed, members)
  ORDER BY id
  ON CONFLICT (subscription_id, slot) DO UPDATE SET passed = t.passed + excluded.passed,
    members = t.members + excluded.members`

/** Adds to the totals of queues, each named once. Totals come last in a transaction: nobody waits for them long. */
export async function addQueueTotals(tx: Tx, gains: readonly QueueGain[]): Promise<void> {
  const rows = gains.filter(
    ({ partitions = 0, stored = 0, dead = 0 }) => partitions || stored || dead,
  )
  if (rows.length === 0) return
  await tx.rows('admin_queue_totals', QUEUE_TOTALS, [
    rows.map(({ id }) => id),
    rows.map(({ partitions = 0 }) => partitions),
    rows.map(({ stored = 0 }) => stored),
    rows.map(({ dead = 0 }) => dead),
  ])
}

/** The same for groups; after those of queues. */
export async function addSubscriptionTotals(
  tx: Tx,
  gains: readonly SubscriptionGain[],
): Promise<void> {
  const rows = gains.filter(({ passed = 0, members = 0 }) => passed || members)
  if (rows.length === 0) return
  await tx.rows('admin_subscription_totals', SUBSCRIPTION_TOTALS, [
    rows.map(({ id }) => id),
    rows.map(({ passed = 0 }) => passed),
    rows.map(({ members = 0 }) => members),
  ])
}
