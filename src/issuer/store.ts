import type { PublicJwk } from '../keys/index.ts'

/** A row of `pubsub_jwt_public_keys`; times in ms since the epoch. Revocation is soft: the row stays. */
export interface KeyRow {
  readonly kid: string
  readonly jwk: PublicJwk
  readonly createdAtMs: number
  /** Null while the key is active. */
  readonly revokedAtMs: number | null
}

/** A herd: the name below which its devices and users publish and subscribe. */
export interface HerdRow {
  readonly id: string
  readonly createdAtMs: number
}

/** A device, without its api key: of that only a hash is kept. */
export interface DeviceRow {
  readonly id: string
  readonly herdId: string
  readonly name: string
  readonly createdAtMs: number
}

/** What is needed to check a device's api key. */
export interface DeviceSecret {
  readonly herdId: string
  /** SHA-256 of the api key, hexadecimal. */
  readonly keyHash: string
}

/** The abilities that a user can hold on a herd (seed "Pub/sub tokens": Who gets what claims). */
export const ABILITIES = ['realtime_streams.read', 'realtime_streams.write'] as const
export type Ability = (typeof ABILITIES)[number]

/** One ability of one user on one herd. */
export interface AbilityGrant {
  readonly user: string
  readonly herdId: string
  readonly ability: Ability
}

/** Everything that decides a user's claims. */
export interface UserGrants {
  readonly superadmin: boolean
  /** Herds on which the user holds each ability, sorted by id. */
  readonly write: readonly string[]
  readonly read: readonly string[]
}

/**
 * What the issuer keeps: the public keys and the principals. Every write is durable when its promise
 * resolves. A thing that is missing or already there is a result, never an error.
 */
export interface IssuerStore {
  /** All keys, revoked ones too, oldest first. */
  keys(): Promise<readonly KeyRow[]>
  /** Registers or replaces a key and makes it active again. */
  upsertKey(jwk: PublicJwk, nowMs: number): Promise<KeyRow>
  /** Registers a key only if its kid is unknown; answers the row that stands there now. */
  insertKey(jwk: PublicJwk, nowMs: number): Promise<KeyRow>
  /** Marks a key revoked, keeping the first date; undefined when the kid is unknown. */
  revokeKey(kid: string, nowMs: number): Promise<KeyRow | undefined>
  /**
   * Calls back when another process may have written keys; returns the way to stop. Only a store that is shared has
   * it; a call may get lost, so `keys` has to be read from time to time as well.
   */
  onKeysChanged?(listener: () => void): () => void

  herds(): Promise<readonly HerdRow[]>
  /** False when the herd exists. */
  createHerd(herd: HerdRow): Promise<boolean>
  /** Takes the herd's devices and abilities with it; false when there is no such herd. */
  deleteHerd(id: string): Promise<boolean>

  devices(): Promise<readonly DeviceRow[]>
  /** False when the herd does not exist. */
  createDevice(device: DeviceRow, keyHash: string): Promise<boolean>
  /** False when there is no such device. */
  rotateDevice(id: string, keyHash: string): Promise<boolean>
  deleteDevice(id: string): Promise<boolean>
  deviceSecret(id: string): Promise<DeviceSecret | undefined>

  /** False when the herd does not exist. */
  grant(grant: AbilityGrant): Promise<boolean>
  withdraw(grant: AbilityGrant): Promise<void>
  setSuperadmin(user: string, on: boolean): Promise<void>
  userGrants(user: string): Promise<UserGrants>
}
