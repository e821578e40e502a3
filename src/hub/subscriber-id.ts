import { createHmac, randomBytes, randomUUID } from 'node:crypto'
import type { HubIdentity } from './identity.ts'

const KEY_BYTES = 32
const NONCE_BYTES = 16
const UUID_BYTES = 16

/** Marks bytes as a version 4 UUID (RFC 9562 section 5.4), which is what a cut hash looks like to others. */
function uuidOf(bytes: Buffer): string {
  bytes.writeUInt8((bytes.readUInt8(6) & 0x0f) | 0x40, 6)
  bytes.writeUInt8((bytes.readUInt8(8) & 0x3f) | 0x80, 8)
  const hex = bytes.toString('hex')
  return [
    hex.slice(0, 8),
    hex.slice(8, 12),
    hex.slice(12, 16),
    hex.slice(16, 20),
    hex.slice(20),
  ].join('-')
}

/** Names one connection: `urn:uuid:…`. */
export type MakeSubscriberId = (identity: HubIdentity) => string

/**
 * Makes the function that names connections (protocol, "the subscriber identifier"). With a `sub` the
 * name is derived from `iss`, `sub` and a value drawn for this connection, through a hash whose key
 * never leaves the process, so that it can neither be chosen nor led back; otherwise it is random.
 */
export function subscriberIds(): MakeSubscriberId {
  const key = randomBytes(KEY_BYTES)
  return (identity) => {
    const sub = identity.anonymous ? undefined : identity.claims['sub']
    if (identity.anonymous || typeof sub !== 'string') return `urn:uuid:${randomUUID()}`
    const hash = createHmac('sha256', key)
      .update(JSON.stringify([identity.claims['iss'], sub]))
      .update(randomBytes(NONCE_BYTES))
      .digest()
    return `urn:uuid:${uuidOf(hash.subarray(0, UUID_BYTES))}`
  }
}
