import type { Tx } from '../../../../storage/index.ts'
import type { Writes } from '../../../store.ts'
import type { KeptSubscription } from '../../group-rows.ts'
import type { WriteHandler } from '../handler.ts'
import { Effects } from './effects.ts'
import { enterAlone, findQueues } from './locks.ts'

type DeleteArgs = Writes['deleteGroup']['args']

/** Takes the gates of the queues on which a group is, and answers those that exist. */
async function enterQueuesOf(tx: Tx, group: string, queue: string | null) {
  const names = () =>
    tx.rows<{ queue_name: string; queue_id: number | null }>(
      'queues_of_group',
      `SELECT queue_name, queue_id FROM hivegate.subscription
       WHERE group_name = $1 AND ($2::text IS NULL OR queue_name = $2)`,
      [group, queue],
    )
  const seen = await names()
  await enterAlone(
    tx,
    seen.map(({ queue_name }) => queue_name),
  )
  // One of them may have gone, or come back, while we waited.
  const rows = await names()
  return findQueues(
    tx,
    rows.flatMap(({ queue_id }) => queue_id ?? []),
  )
}

/**
 * The subscriptions go; with `$3` those that a pop has registered come back under a new id, which leaves the old
 * cursors behind at once. ($1 group, $2 queue or NULL, $3 keep)
 */
const DELETE = `
  WITH gone AS MATERIALIZED (
    DELETE FROM hivegate.subscription
    WHERE group_name = $1 AND ($2::text IS NULL OR queue_name = $2) RETURNING *),
  dropped AS (
    INSERT INTO hivegate.dropped_subscription (subscription_id, queue_id)
    SELECT id, queue_id FROM gone WHERE queue_id IS NOT NULL),
  totals AS (
    DELETE FROM hivegate.subscription_total t USING gone WHERE t.subscription_id = gone.id
    RETURNING t.members)
  SELECT gone.*, $3::boolean AND gone.mode IS NOT NULL AS renew,
    coalesce((SELECT sum(members) FROM totals), 0) AS members
  FROM gone ORDER BY id`

interface Gone extends KeptSubscription {
  readonly renew: boolean
  /** Of all that went. */
  readonly members: number
}

const RENEW = `
  INSERT INTO hivegate.subscription
    (queue_name, queue_id, group_name, mode, start_at, registered_at, born_after)
  VALUES ($1, $2, $3, $4, $5, $6, $7) RETURNING id`

async function renew(tx: Tx, row: Gone, { group, nowUs }: DeleteArgs): Promise<void> {
  const { queue_name, queue_id, mode, start_at, registered_at, born_after } = row
  const [made] = await tx.rows<{ id: number }>('renew_group', RENEW, [
    ...[queue_name, queue_id, group, mode, start_at, registered_at, born_after],
  ])
  if (made === undefined || queue_id === null) return
  await tx.rows('make_cursors', 'SELECT hivegate.make_cursors($1, $2)', [made.id, nowUs])
}

/** Cursors, leases and retry counts go; the subscription too when its metadata is to go. Queue API 7.5. */
export const deleteGroup: WriteHandler<'deleteGroup'> = async (tx, args) => {
  const { group, queue, deleteMetadata } = args
  const queues = await enterQueuesOf(tx, group, queue)
  const gone = await tx.rows<Gone>('delete_group', DELETE, [group, queue, !deleteMetadata])
  for (const row of gone) if (row.renew) await renew(tx, row, args)
  const effects = new Effects()
  for (const label of queues) effects.wake(label)
  return effects.with({
    deletedPartitions: gone[0]?.members ?? 0,
    metadataDeleted: deleteMetadata && gone.some(({ mode }) => mode !== null),
  })
}

const RESTART = `
  UPDATE hivegate.subscription s SET mode = 'timestamp', start_at = $2
  WHERE s.group_name = $1 AND s.mode IS NOT NULL
    AND (s.queue_id IS NULL OR s.queue_id = ANY ($3::bigint[]))
  RETURNING s.id, s.queue_id`

/** Registered subscriptions of the group get a new start; those of unknown queues too. Queue API 7.6. */
export const updateSubscription: WriteHandler<'updateSubscription'> = async (tx, args) => {
  const { group, startAtUs, nowUs } = args
  const queues = await enterQueuesOf(tx, group, null)
  const rows = await tx.rows<{ id: number; queue_id: number | null }>('restart_group', RESTART, [
    ...[group, startAtUs],
    queues.map(({ id }) => id),
  ])
  await tx.rows(
    'place_cursors',
    'SELECT hivegate.place_cursors(id, $2) FROM unnest($1::bigint[]) id ORDER BY id',
    [rows.flatMap(({ id, queue_id }) => (queue_id === null ? [] : id)), nowUs],
  )
  const effects = new Effects()
  for (const label of queues) {
    if (rows.some(({ queue_id }) => queue_id === label.id)) effects.wake(label)
  }
  return effects.with({ rowsUpdated: rows.length })
}
