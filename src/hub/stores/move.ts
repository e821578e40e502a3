import { columns, type WingMove } from '../../storage/index.ts'

/** The hub's history on its way from the embedded store to PostgreSQL. */
export const HUB_MOVE: WingMove = {
  prefilled: ['hub_head'],
  tables: [
    {
      name: 'hub_update',
      key: ['seq'],
      columns: [
        ...columns('bigint', 'seq'),
        ...columns('text', 'id', 'topics', 'type', 'retry'),
        ...columns('boolean', 'private'),
        ...columns('bytea', 'data'),
        // The embedded store keeps no time; the history ages from the move on.
        { name: 'accepted_at', type: 'timestamptz', from: `strftime('%Y-%m-%dT%H:%M:%fZ')` },
      ],
    },
  ],
  async finish(tx) {
    await tx.rows(
      'move_hub_head',
      `UPDATE hivegate.hub_head SET seq = u.newest, oldest = u.oldest, kept = u.oldest,
         id = (SELECT id FROM hivegate.hub_update WHERE seq = u.newest)
       FROM (SELECT max(seq) AS newest, min(seq) AS oldest FROM hivegate.hub_update) u
       WHERE u.newest IS NOT NULL`,
    )
  },
}
