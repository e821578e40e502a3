import type { PgHost } from '../../../storage/index.ts'
import type { Ability, IssuerStore, UserGrants } from '../../store.ts'
import { deviceRow, herdRow } from '../rows.ts'
import { isStorable } from './storable.ts'

type Row = Readonly<Record<string, unknown>>
type DeviceStore = Pick<
  IssuerStore,
  'devices' | 'createDevice' | 'rotateDevice' | 'deleteDevice' | 'deviceSecret'
>
type HerdStore = Pick<IssuerStore, 'herds' | 'createHerd' | 'deleteHerd'>
type UserStore = Pick<IssuerStore, 'grant' | 'withdraw' | 'setSuperadmin' | 'userGrants'>

const SQL = {
  herds: 'SELECT * FROM hivegate.pubsub_herds ORDER BY id',
  createHerd: `INSERT INTO hivegate.pubsub_herds (id, created_at) VALUES ($1, $2)
    ON CONFLICT DO NOTHING RETURNING id`,
  deleteHerd: 'DELETE FROM hivegate.pubsub_herds WHERE id = $1 RETURNING id',
  devices: 'SELECT * FROM hivegate.pubsub_devices ORDER BY created_at, id',
  // The lock keeps the herd from being deleted before the device is there.
  createDevice: `INSERT INTO hivegate.pubsub_devices (id, herd_id, name, key_hash, created_at)
    SELECT $1, herd.id, $3, $4, $5
    FROM (SELECT id FROM hivegate.pubsub_herds WHERE id = $2 FOR KEY SHARE) AS herd RETURNING id`,
  rotateDevice: 'UPDATE hivegate.pubsub_devices SET key_hash = $2 WHERE id = $1 RETURNING id',
  deleteDevice: 'DELETE FROM hivegate.pubsub_devices WHERE id = $1 RETURNING id',
  deviceSecret: 'SELECT herd_id, key_hash FROM hivegate.pubsub_devices WHERE id = $1',
  grant: `WITH herd AS (SELECT id FROM hivegate.pubsub_herds WHERE id = $2 FOR KEY SHARE),
      added AS (
        INSERT INTO hivegate.pubsub_abilities (user_id, herd_id, ability)
        SELECT $1, herd.id, $3 FROM herd ON CONFLICT DO NOTHING)
    SELECT id FROM herd`,
  withdraw: `DELETE FROM hivegate.pubsub_abilities
    WHERE user_id = $1 AND herd_id = $2 AND ability = $3`,
  superadmin: `INSERT INTO hivegate.pubsub_superadmins (user_id) VALUES ($1)
    ON CONFLICT DO NOTHING`,
  noSuperadmin: 'DELETE FROM hivegate.pubsub_superadmins WHERE user_id = $1',
  // One statement, so that all of the answer is of one moment.
  grants: `SELECT herd_id, ability FROM hivegate.pubsub_abilities WHERE user_id = $1
    UNION ALL SELECT NULL, NULL FROM hivegate.pubsub_superadmins WHERE user_id = $1
    ORDER BY 1`,
} as const

type Name = keyof typeof SQL

/** Runs one of the statements above; its key is its prepared name too. */
function runnerOn(host: PgHost) {
  const rows = (name: Name, values: readonly unknown[] = []) =>
    host.rows<Row>(`issuer_${name}`, SQL[name], values)
  return {
    rows,
    any: async (name: Name, values: unknown[]) => (await rows(name, values)).length > 0,
  }
}

function herdStore(host: PgHost): HerdStore {
  const { rows, any } = runnerOn(host)
  return {
    herds: async () => (await rows('herds')).map(herdRow),
    createHerd: ({ id, createdAtMs }) => any('createHerd', [id, createdAtMs]),
    deleteHerd: (id) => any('deleteHerd', [id]),
  }
}

function deviceStore(host: PgHost): DeviceStore {
  const { rows, any } = runnerOn(host)
  return {
    devices: async () => (await rows('devices')).map(deviceRow),
    createDevice: ({ id, herdId, name, createdAtMs }, keyHash) =>
      any('createDevice', [id, herdId, name, keyHash, createdAtMs]),
    rotateDevice: (id, keyHash) => any('rotateDevice', [id, keyHash]),
    deleteDevice: (id) => any('deleteDevice', [id]),
    async deviceSecret(id) {
      if (!isStorable(id)) return undefined
      const [row] = await rows('deviceSecret', [id])
      return row && { herdId: String(row['herd_id']), keyHash: String(row['key_hash']) }
    },
  }
}

const NO_GRANTS: UserGrants = Object.freeze({ superadmin: false, write: [], read: [] })

function userStore(host: PgHost): UserStore {
  const { rows, any } = runnerOn(host)
  return {
    grant: ({ user, herdId, ability }) => any('grant', [user, herdId, ability]),
    async withdraw({ user, herdId, ability }) {
      await rows('withdraw', [user, herdId, ability])
    },
    async setSuperadmin(user, on) {
      await rows(on ? 'superadmin' : 'noSuperadmin', [user])
    },
    async userGrants(user) {
      if (!isStorable(user)) return NO_GRANTS
      const found = await rows('grants', [user])
      const having = (ability: Ability) =>
        found.filter((row) => row['ability'] === ability).map((row) => String(row['herd_id']))
      return {
        superadmin: found.some((row) => row['ability'] === null),
        write: having('realtime_streams.write'),
        read: having('realtime_streams.read'),
      }
    },
  }
}

/** Herds, devices and users on PostgreSQL. */
export function principalStore(host: PgHost): HerdStore & DeviceStore & UserStore {
  return { ...herdStore(host), ...deviceStore(host), ...userStore(host) }
}
