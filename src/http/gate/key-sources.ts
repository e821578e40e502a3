import type { AuthConfig } from '../../config/index.ts'
import {
  fixedSource,
  JwksSource,
  type KeyKind,
  type KeySource,
  type Log,
  pemSource,
  secretSource,
} from '../../keys/index.ts'

/** Seed "A JWKS endpoint": only these two types of entries are read. */
const KEY_SET_KINDS: readonly KeyKind[] = ['rsa', 'ed25519']

/** What is cached of a key set. */
export interface KeySetState {
  /** Usable keys. */
  readonly keys: number
  /** When it was last fetched, in ms since 1970; undefined while it never was. */
  readonly loadedAtMs: number | undefined
}

/** Where the keys of each kind come from, under one configuration. */
export interface RoleKeys {
  /** The source for a kind of key; undefined for a kind that no accepted algorithm needs. */
  readonly of: (kind: KeyKind) => KeySource | undefined
  /** Settles when the boot pre-fetch has ended; never rejects. */
  readonly ready: Promise<void>
  onChange(listener: () => void): void
  /** The cached key set; undefined when the keys come from elsewhere. */
  keySet(): KeySetState | undefined
  close(): void
}

function publicKeySource(config: AuthConfig, log: Log, clock: { now(): number }) {
  // Seed: "A static PEM always wins over JWKS"; there is no fallback from a bad one.
  if (config.publicKey !== '') return pemSource(config.publicKey, 'JWT_PUBLIC_KEY')
  if (config.jwksUrl === '') return fixedSource([], 'no public key is configured')
  return new JwksSource({
    url: config.jwksUrl,
    kinds: KEY_SET_KINDS,
    choice: 'queue',
    timeoutMs: config.jwksTimeoutMs,
    refreshIntervalS: config.jwksRefreshIntervalS,
    log,
    clock,
  })
}

/** Seed "Where the verification key comes from": the secret for HS, the PEM or else the key set for RS and EdDSA. */
export function roleKeys(config: AuthConfig, log: Log, clock: { now(): number }): RoleKeys {
  const secret = secretSource(config.secret, 'JWT_SECRET')
  const publicKey = publicKeySource(config, log, clock)
  const sources: ReadonlyMap<KeyKind, KeySource> = new Map<KeyKind, KeySource>([
    ['secret', secret],
    ['rsa', publicKey],
    ['ed25519', publicKey],
  ])
  return {
    of: (kind) => sources.get(kind),
    ready: publicKey instanceof JwksSource ? publicKey.ready : Promise.resolve(),
    onChange: (listener) => void publicKey.onChange(listener),
    keySet() {
      if (!(publicKey instanceof JwksSource)) return undefined
      return { keys: publicKey.size, loadedAtMs: publicKey.loadedAtMs }
    },
    close: () => publicKey.close(),
  }
}
