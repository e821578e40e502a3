import type { DatabaseSync } from 'node:sqlite'
import type { KeyRow } from '../../store.ts'
import { keyRow } from '../rows.ts'
import type { IssuerWrites } from './calls.ts'

function keyWrites(db: DatabaseSync): Pick<IssuerWrites, 'upsertKey' | 'insertKey' | 'revokeKey'> {
  const byKid = db.prepare('SELECT * FROM pubsub_jwt_public_keys WHERE kid = ?')
  const insert = db.prepare(
    'INSERT INTO pubsub_jwt_public_keys (kid, jwk, created_at) VALUES (?, ?, ?) ON CONFLICT DO NOTHING',
  )
  const upsert = db.prepare(
    `INSERT INTO pubsub_jwt_public_keys (kid, jwk, created_at) VALUES (?, ?, ?)
     ON CONFLICT (kid) DO UPDATE SET jwk = excluded.jwk, revoked_at = NULL`,
  )
  const revoke = db.prepare(
    'UPDATE pubsub_jwt_public_keys SET revoked_at = ? WHERE kid = ? AND revoked_at IS NULL',
  )
  const find = (kid: string): KeyRow | undefined => {
    const row = byKid.get(kid)
    return row && keyRow(row)
  }
  const found = (kid: string): KeyRow => {
    const row = find(kid)
    if (!row) throw new Error('the key that was just written is not there')
    return row
  }
  return {
    upsertKey(jwk, nowMs) {
      upsert.run(jwk.kid, JSON.stringify(jwk), nowMs)
      return found(jwk.kid)
    },
    insertKey(jwk, nowMs) {
      insert.run(jwk.kid, JSON.stringify(jwk), nowMs)
      return found(jwk.kid)
    },
    revokeKey(kid, nowMs) {
      revoke.run(nowMs, kid)
      return find(kid)
    },
  }
}

/** The writes of the issuer; each is a few statements inside the host's transaction. */
export function issuerWrites(db: DatabaseSync): IssuerWrites {
  const statements = {
    createHerd: db.prepare(
      'INSERT INTO pubsub_herds (id, created_at) VALUES (?, ?) ON CONFLICT DO NOTHING',
    ),
    herdDevices: db.prepare('DELETE FROM pubsub_devices WHERE herd_id = ?'),
    herdAbilities: db.prepare('DELETE FROM pubsub_abilities WHERE herd_id = ?'),
    deleteHerd: db.prepare('DELETE FROM pubsub_herds WHERE id = ?'),
    createDevice: db.prepare(
      `INSERT INTO pubsub_devices (id, herd_id, name, key_hash, created_at)
       SELECT ?, id, ?, ?, ? FROM pubsub_herds WHERE id = ?`,
    ),
    rotateDevice: db.prepare('UPDATE pubsub_devices SET key_hash = ? WHERE id = ?'),
    deleteDevice: db.prepare('DELETE FROM pubsub_devices WHERE id = ?'),
    herd: db.prepare('SELECT 1 FROM pubsub_herds WHERE id = ?'),
    grant: db.prepare(
      'INSERT INTO pubsub_abilities (user_id, herd_id, ability) VALUES (?, ?, ?) ON CONFLICT DO NOTHING',
    ),
    withdraw: db.prepare(
      'DELETE FROM pubsub_abilities WHERE user_id = ? AND herd_id = ? AND ability = ?',
    ),
    superadmin: db.prepare(
      'INSERT INTO pubsub_superadmins (user_id) VALUES (?) ON CONFLICT DO NOTHING',
    ),
    noSuperadmin: db.prepare('DELETE FROM pubsub_superadmins WHERE user_id = ?'),
  }
  return {
    ...keyWrites(db),
    createHerd: (herd) => statements.createHerd.run(herd.id, herd.createdAtMs).changes === 1,
    deleteHerd(id) {
      statements.herdDevices.run(id)
      statements.herdAbilities.run(id)
      return statements.deleteHerd.run(id).changes === 1
    },
    createDevice: ({ id, herdId, name, createdAtMs }, keyHash) =>
      statements.createDevice.run(id, name, keyHash, createdAtMs, herdId).changes === 1,
    rotateDevice: (id, keyHash) => statements.rotateDevice.run(keyHash, id).changes === 1,
    deleteDevice: (id) => statements.deleteDevice.run(id).changes === 1,
    grant({ user, herdId, ability }) {
      if (statements.herd.get(herdId) === undefined) return false
      statements.grant.run(user, herdId, ability)
      return true
    },
    withdraw({ user, herdId, ability }) {
      statements.withdraw.run(user, herdId, ability)
    },
    setSuperadmin(user, on) {
      const statement = on ? statements.superadmin : statements.noSuperadmin
      statement.run(user)
    },
  }
}
