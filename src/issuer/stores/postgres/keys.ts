import type { PublicJwk } from '../../../keys/index.ts'
import type { PgHost } from '../../../storage/index.ts'
import type { IssuerStore, KeyRow } from '../../store.ts'
import { keyRow } from '../rows.ts'
import { isStorable } from './storable.ts'

/** What tells the brokers that a key was registered or revoked. */
const CHANNEL = 'hivegate_keys'

type Row = Readonly<Record<string, unknown>>
type KeyStore = Pick<
  IssuerStore,
  'keys' | 'upsertKey' | 'insertKey' | 'revokeKey' | 'onKeysChanged'
>

const ALL = 'SELECT * FROM hivegate.pubsub_jwt_public_keys ORDER BY created_at, kid'
const FIND = 'SELECT * FROM hivegate.pubsub_jwt_public_keys WHERE kid = $1'
const INSERT = `
  INSERT INTO hivegate.pubsub_jwt_public_keys (kid, jwk, created_at) VALUES ($1, $2, $3)
  ON CONFLICT DO NOTHING`
const UPSERT = `
  INSERT INTO hivegate.pubsub_jwt_public_keys (kid, jwk, created_at) VALUES ($1, $2, $3)
  ON CONFLICT (kid) DO UPDATE SET jwk = excluded.jwk, revoked_at = NULL RETURNING *`
const REVOKE = `
  UPDATE hivegate.pubsub_jwt_public_keys SET revoked_at = coalesce(revoked_at, $2) WHERE kid = $1
  RETURNING *`

function found(row: Row | undefined): KeyRow {
  if (row === undefined) throw new Error('the key that was just written is not there')
  return keyRow(row)
}

/** The public keys on PostgreSQL; every change is told to the other brokers. */
export function keyStore(host: PgHost): KeyStore {
  // Every broker reads the keys again from time to time, so a notification that gets lost only costs time.
  const tell = () => void host.notify(CHANNEL, host.instance).catch(() => undefined)
  const valuesOf = (jwk: PublicJwk, nowMs: number) => [jwk.kid, JSON.stringify(jwk), nowMs]
  return {
    async keys() {
      return (await host.rows<Row>('issuer_keys', ALL)).map(keyRow)
    },
    async upsertKey(jwk, nowMs) {
      const [row] = await host.rows<Row>('issuer_key_upsert', UPSERT, valuesOf(jwk, nowMs))
      tell()
      return found(row)
    },
    async insertKey(jwk, nowMs) {
      // Two statements: the second one sees what another broker has inserted in the first one's way.
      const row = await host.transaction(async (tx) => {
        await tx.rows('issuer_key_insert', INSERT, valuesOf(jwk, nowMs))
        return (await tx.rows<Row>('issuer_key_find', FIND, [jwk.kid]))[0]
      })
      tell()
      return found(row)
    },
    async revokeKey(kid, nowMs) {
      if (!isStorable(kid)) return undefined
      const [row] = await host.rows<Row>('issuer_key_revoke', REVOKE, [kid, nowMs])
      tell()
      return row && keyRow(row)
    },
    onKeysChanged(listener) {
      return host.listen(CHANNEL, {
        heard: (origin) => {
          if (origin !== host.instance) listener()
        },
        restored: listener,
      })
    },
  }
}
