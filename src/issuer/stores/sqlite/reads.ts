import type { DatabaseSync } from 'node:sqlite'
import type { Ability, UserGrants } from '../../store.ts'
import { deviceRow, herdRow, keyRow } from '../rows.ts'
import type { IssuerReads } from './calls.ts'

/** The reads of the issuer on one connection. */
export function issuerReads(db: DatabaseSync): IssuerReads {
  const keys = db.prepare('SELECT * FROM pubsub_jwt_public_keys ORDER BY created_at, kid')
  const herds = db.prepare('SELECT * FROM pubsub_herds ORDER BY id')
  const devices = db.prepare('SELECT * FROM pubsub_devices ORDER BY created_at, id')
  const secret = db.prepare('SELECT herd_id, key_hash FROM pubsub_devices WHERE id = ?')
  const superadmin = db.prepare('SELECT 1 FROM pubsub_superadmins WHERE user_id = ?')
  const abilities = db.prepare(
    'SELECT herd_id, ability FROM pubsub_abilities WHERE user_id = ? ORDER BY herd_id',
  )
  return {
    keys: () => keys.all().map(keyRow),
    herds: () => herds.all().map(herdRow),
    devices: () => devices.all().map(deviceRow),
    deviceSecret(id) {
      const row = secret.get(id)
      return row && { herdId: String(row['herd_id']), keyHash: String(row['key_hash']) }
    },
    userGrants(user): UserGrants {
      const rows = abilities.all(user)
      const having = (ability: Ability) =>
        rows.filter((row) => row['ability'] === ability).map((row) => String(row['herd_id']))
      return {
        superadmin: superadmin.get(user) !== undefined,
        write: having('realtime_streams.write'),
        read: having('realtime_streams.read'),
      }
    },
  }
}
