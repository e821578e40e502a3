import { columns, type WingMove } from '../../storage/index.ts'

/** The issuer's keys and principals on their way from the embedded store to PostgreSQL. Herds come first. */
export const ISSUER_MOVE: WingMove = {
  tables: [
    {
      name: 'pubsub_jwt_public_keys',
      key: ['kid'],
      columns: [...columns('text', 'kid', 'jwk'), ...columns('bigint', 'created_at', 'revoked_at')],
    },
    {
      name: 'pubsub_herds',
      key: ['id'],
      columns: [...columns('text', 'id'), ...columns('bigint', 'created_at')],
    },
    {
      name: 'pubsub_devices',
      key: ['id'],
      columns: [
        ...columns('text', 'id', 'herd_id', 'name', 'key_hash'),
        ...columns('bigint', 'created_at'),
      ],
    },
    {
      name: 'pubsub_abilities',
      key: ['user_id', 'herd_id', 'ability'],
      columns: columns('text', 'user_id', 'herd_id', 'ability'),
    },
    { name: 'pubsub_superadmins', key: ['user_id'], columns: columns('text', 'user_id') },
  ],
}
