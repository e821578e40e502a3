import { parsePublicJwk } from '../../keys/index.ts'
import type { DeviceRow, HerdRow, KeyRow } from '../store.ts'

/** A row as a database gives it. */
type Row = Readonly<Record<string, unknown>>

/** A row of `pubsub_jwt_public_keys`; the JWK is checked again, so that nothing unchecked is ever served. */
export function keyRow(row: Row): KeyRow {
  const revoked = row['revoked_at']
  return {
    kid: String(row['kid']),
    jwk: parsePublicJwk(JSON.parse(String(row['jwk']))),
    createdAtMs: Number(row['created_at']),
    revokedAtMs: revoked === null || revoked === undefined ? null : Number(revoked),
  }
}

/** A row of `pubsub_herds`. */
export const herdRow = (row: Row): HerdRow => ({
  id: String(row['id']),
  createdAtMs: Number(row['created_at']),
})

/** A row of `pubsub_devices`, without the hash. */
export const deviceRow = (row: Row): DeviceRow => ({
  id: String(row['id']),
  herdId: String(row['herd_id']),
  name: String(row['name']),
  createdAtMs: Number(row['created_at']),
})
