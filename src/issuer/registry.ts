import {
  fits,
  type KeyRequest,
  type KeySource,
  type PublicJwk,
  type VerificationKey,
  verificationKeyOf,
} from '../keys/index.ts'
import type { IssuerStore, KeyRow } from './store.ts'

type KeyStore = Pick<
  IssuerStore,
  'keys' | 'upsertKey' | 'insertKey' | 'revokeKey' | 'onKeysChanged'
>

/** What the registry is opened with. */
export interface RegistryOptions {
  readonly store: KeyStore
  readonly clock: { now(): number }
  /**
   * Time in ms between looks at the store, for a store that other processes write too; 0: this process
   * is the only writer. It bounds how long a key revoked elsewhere is still accepted here when the store's own word of it got lost.
   */
  readonly refreshMs?: number
}

interface Entry {
  readonly row: KeyRow
  readonly key: VerificationKey
}

/**
 * The public keys of path-prefix tokens: `pubsub_jwt_public_keys` in memory, so that a check costs no read
 * and a revocation holds in this process from the moment it is committed.
 */
export class KeyRegistry implements KeySource {
  readonly about = 'registered public keys'
  readonly #store: KeyStore
  readonly #clock: { now(): number }
  readonly #listeners = new Set<() => void>()
  readonly #retired = new Set<(kid: string) => void>()
  #entries: ReadonlyMap<string, Entry> = new Map()
  #writes = 0
  #reads = 0
  #newest: Promise<void> | undefined
  #stopHearing: (() => void) | undefined
  #timer: NodeJS.Timeout | undefined

  private constructor({ store, clock }: RegistryOptions) {
    this.#store = store
    this.#clock = clock
  }

  /** Reads all keys and, with `refreshMs`, keeps reading. */
  static async open(options: RegistryOptions): Promise<KeyRegistry> {
    const registry = new KeyRegistry(options)
    await registry.refresh()
    const { refreshMs = 0, store } = options
    registry.#stopHearing = store.onKeysChanged?.(() => {
      registry.refresh().catch(() => undefined)
    })
    if (refreshMs > 0) registry.#poll(refreshMs)
    return registry
  }

  /** All active keys, oldest first. */
  active(): readonly KeyRow[] {
    return [...this.#entries.values()].map(({ row }) => row).filter(isActive)
  }

  /** The public JWK of an active key. */
  find(kid: string): PublicJwk | undefined {
    return this.#activeEntry(kid)?.row.jwk
  }

  /** True for a key that is known and revoked. */
  isRevoked(kid: string): boolean {
    const entry = this.#entries.get(kid)
    return entry !== undefined && !isActive(entry.row)
  }

  candidates(request: KeyRequest): readonly VerificationKey[] {
    const key = this.#activeEntry(request.kid ?? '')?.key
    return key && fits(key, request) ? [key] : []
  }

  onChange(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }

  /** Calls back with each kid whose tokens are refused from now on; returns the way to stop. */
  onRetired(listener: (kid: string) => void): () => void {
    this.#retired.add(listener)
    return () => void this.#retired.delete(listener)
  }

  /** Registers or replaces a key; a revoked kid becomes active again. */
  async upsert(jwk: PublicJwk): Promise<KeyRow> {
    return this.#put(await this.#store.upsertKey(jwk, this.#clock.now()))
  }

  /** Registers a key if its kid is unknown; answers the row that counts. */
  async insert(jwk: PublicJwk): Promise<KeyRow> {
    return this.#put(await this.#store.insertKey(jwk, this.#clock.now()))
  }

  /** Revokes a key; undefined for an unknown kid. */
  async revoke(kid: string): Promise<KeyRow | undefined> {
    const row = await this.#store.revokeKey(kid, this.#clock.now())
    return row && this.#put(row)
  }

  /**
   * Reads all keys again; what was written meanwhile is newer than what was read and stays. Resolves when a look that
   * began no earlier than this call counts.
   */
  async refresh(): Promise<void> {
    const own = this.#look()
    this.#newest = own
    await own
    // Of two looks at once the one that began last is the newer one, and the only one that counts.
    if (this.#newest !== own) await this.#newest
  }

  async #look(): Promise<void> {
    const writes = this.#writes
    this.#reads += 1
    const reads = this.#reads
    const rows = await this.#store.keys()
    if (writes !== this.#writes || reads !== this.#reads) return
    this.#replace(new Map(rows.map((row) => [row.kid, { row, key: verificationKeyOf(row.jwk) }])))
  }

  close(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    this.#stopHearing?.()
    this.#listeners.clear()
    this.#retired.clear()
  }

  #activeEntry(kid: string): Entry | undefined {
    const entry = this.#entries.get(kid)
    return entry && isActive(entry.row) ? entry : undefined
  }

  #put(row: KeyRow): KeyRow {
    this.#writes += 1
    const entry = { row, key: verificationKeyOf(row.jwk) }
    this.#replace(new Map([...this.#entries, [row.kid, entry]]))
    return row
  }

  #replace(entries: ReadonlyMap<string, Entry>): void {
    const before = this.#entries
    this.#entries = entries
    const gone = [...before.values()].filter(
      ({ row }) => isActive(row) && !sameKey(row, this.#activeEntry(row.kid)?.row),
    )
    if (!sameRows(before, entries)) for (const listener of this.#listeners) listener()
    for (const { row } of gone) for (const listener of this.#retired) listener(row.kid)
  }

  #poll(refreshMs: number): void {
    const again = () => {
      // A read that fails keeps the keys at hand; the store reports its own failures.
      const done = this.refresh().catch(() => undefined)
      void done.then(() => {
        if (this.#timer !== undefined) this.#poll(refreshMs)
      })
    }
    this.#timer = setTimeout(again, refreshMs)
    this.#timer.unref()
  }
}

function isActive(row: KeyRow): boolean {
  return row.revokedAtMs === null
}

/** Whether a look at the store has brought nothing new. */
function sameRows(before: ReadonlyMap<string, Entry>, now: ReadonlyMap<string, Entry>): boolean {
  const text = (entries: typeof now) => JSON.stringify([...entries.values()].map(({ row }) => row))
  return text(before) === text(now)
}

function sameKey(before: KeyRow, now: KeyRow | undefined): boolean {
  return now !== undefined && JSON.stringify(before.jwk) === JSON.stringify(now.jwk)
}
