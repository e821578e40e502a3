import type { HubConfig, HubRole, HubVerifier } from '../config/index.ts'
import {
  JwksSource,
  type KeyKind,
  type KeySource,
  keySetSource,
  type Log,
  pemSource,
  readJwkSet,
  secretSource,
} from '../keys/index.ts'
import { ALGORITHMS, type Algorithm } from '../tokens/index.ts'

/** One fetch of a key set may take so long: connect, headers and body together. */
const JWKS_TIMEOUT_MS = 5000
/** Background refresh of key sets: hourly (protocol, 6.3). */
const JWKS_REFRESH_S = 3600

/** How tokens of one issuer are verified for one role. */
export interface TrustedVerifier {
  /** The only algorithms; the token never widens them. */
  readonly algorithms: ReadonlyMap<string, Algorithm>
  /** Keys of this issuer and role, never pooled with others. */
  readonly keys: KeySource
}

/** The verifiers of every trusted issuer, by issuer identifier and role. */
export type TrustedIssuers = ReadonlyMap<string, Partial<Record<HubRole, TrustedVerifier>>>

/** What verifiers need from outside. */
export interface TrustOptions {
  readonly log: Log
  /** Time in ms; only the throttle of key set fetches looks at it. */
  readonly clock: { now(): number }
}

function rowsOf(names: readonly string[]): ReadonlyMap<string, Algorithm> {
  return new Map([...ALGORITHMS].filter(([name]) => names.includes(name)))
}

function kindsOf(algorithms: ReadonlyMap<string, Algorithm>): readonly KeyKind[] {
  return [...new Set([...algorithms.values()].map(({ kind }) => kind))]
}

function trustedVerifier(
  verifier: HubVerifier,
  about: string,
  { log, clock }: TrustOptions,
): TrustedVerifier {
  switch (verifier.kind) {
    case 'secret':
      return {
        algorithms: rowsOf([verifier.algorithm]),
        keys: secretSource(verifier.secret, about),
      }
    case 'pem':
      return { algorithms: rowsOf([verifier.algorithm]), keys: pemSource(verifier.pem, about) }
    case 'key-set': {
      const algorithms = rowsOf(verifier.algorithms)
      const { keys } = readJwkSet(verifier.keys, kindsOf(algorithms))
      if (keys.length === 0) log.error({ source: about }, 'JWKS document holds no usable key')
      return { algorithms, keys: keySetSource(keys, 'hub', about) }
    }
    case 'jwks': {
      const algorithms = rowsOf(verifier.algorithms)
      const keys = new JwksSource({
        url: verifier.url,
        kinds: kindsOf(algorithms),
        choice: 'hub',
        timeoutMs: JWKS_TIMEOUT_MS,
        refreshIntervalS: JWKS_REFRESH_S,
        log,
        clock,
      })
      return { algorithms, keys }
    }
  }
}

/** Makes the verifiers of all issuers; key sets start to be fetched. */
export function trustIssuers(issuers: HubConfig['issuers'], options: TrustOptions): TrustedIssuers {
  return new Map(
    issuers.map(({ issuer, publisher, subscriber }) => {
      const trusted = (verifier: HubVerifier | undefined, role: HubRole) =>
        verifier === undefined
          ? {}
          : { [role]: trustedVerifier(verifier, `${role} key of ${issuer}`, options) }
      return [issuer, { ...trusted(publisher, 'publisher'), ...trusted(subscriber, 'subscriber') }]
    }),
  )
}

/** Every key source in use. */
export function keySourcesOf(issuers: TrustedIssuers): readonly KeySource[] {
  return [...issuers.values()].flatMap((roles) => Object.values(roles).map(({ keys }) => keys))
}
