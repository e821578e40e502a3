import type { WingMove } from '../../../storage/index.ts'
import { OPS_TABLES } from './ops-tables.ts'
import { CORE_TABLES } from './tables.ts'

/** The queue's data on its way from the embedded store to PostgreSQL. */
export const QUEUE_MOVE: WingMove = {
  tables: [...CORE_TABLES, ...OPS_TABLES],
  prefilled: ['buffer_stamp'],
  async finish(tx) {
    // The embedded store makes cursors little by little; here every registered group has all of its own.
    await tx.rows(
      'move_cursors',
      `SELECT hivegate.make_cursors(id, (extract(epoch FROM clock_timestamp()) * 1000000)::bigint)
       FROM hivegate.subscription WHERE mode IS NOT NULL AND queue_id IS NOT NULL ORDER BY id`,
    )
    // Ids of diverted pushes go on rising: above the millisecond of the newest.
    await tx.rows(
      'move_buffer_stamp',
      `UPDATE hivegate.buffer_stamp SET stamp = 1000 * (1 + coalesce((
         SELECT ('x' || substr(replace(max(message_id), '-', ''), 1, 12))::bit(48)::bigint
         FROM hivegate.buffered_push), 0))`,
    )
  },
}
