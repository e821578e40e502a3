import type { Tx } from '../../../../storage/index.ts'
import type { QueueLabel } from './locks.ts'

/** A group on a queue. */
export interface GroupRow {
  readonly id: number
  /** null: not registered by a pop yet. */
  readonly mode: 'all' | 'new' | 'timestamp' | null
}

/** The group's row on a queue whose gate we have, made without a registration if there is none. */
export async function ensureSubscription(
  tx: Tx,
  queue: QueueLabel,
  group: string,
): Promise<GroupRow> {
  const [known] = await tx.rows<GroupRow>(
    'group_on_queue',
    'SELECT id, mode FROM hivegate.subscription WHERE queue_name = $1 AND group_name = $2',
    [queue.name, group],
  )
  if (known !== undefined) return known
  const [made] = await tx.rows<GroupRow>(
    'make_group',
    `INSERT INTO hivegate.subscription (queue_name, queue_id, group_name) VALUES ($1, $2, $3)
     ON CONFLICT (queue_name, group_name) DO UPDATE SET queue_id = excluded.queue_id
     RETURNING id, mode`,
    [queue.name, queue.id, group],
  )
  if (made === undefined) throw new Error('a group could not be made')
  return made
}
