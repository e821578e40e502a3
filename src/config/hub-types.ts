/** The token algorithms that a hub verifier may be given. */
export const HUB_ALGORITHMS = [
  'HS256',
  'HS384',
  'HS512',
  'RS256',
  'RS384',
  'RS512',
  'PS256',
  'PS384',
  'PS512',
  'ES256',
  'ES384',
  'ES512',
  'EdDSA',
] as const
export type HubAlgorithm = (typeof HUB_ALGORITHMS)[number]

/** What a JWK set may sign with when nothing is listed: no HMAC, whatever keys the set holds. */
export const DEFAULT_JWKS_ALGORITHMS: readonly HubAlgorithm[] = Object.freeze([
  'EdDSA',
  'ES256',
  'ES384',
  'ES512',
  'RS256',
  'RS384',
  'RS512',
  'PS256',
  'PS384',
  'PS512',
])

/** Who a request comes from: `publisher` for POST to the hub URL, `subscriber` for everything else. */
export type HubRole = 'publisher' | 'subscriber'

/**
 * How tokens of one issuer are verified for one role: a raw HMAC secret (its UTF-8 bytes are the key), a PEM
 * public key (cleaned up), a JWK set that is fetched, or one that was read from a file (`key-set`). A static key has
 * exactly one algorithm.
 */
export type HubVerifier =
  | { readonly kind: 'secret'; readonly secret: string; readonly algorithm: HubAlgorithm }
  | { readonly kind: 'pem'; readonly pem: string; readonly algorithm: HubAlgorithm }
  | { readonly kind: 'jwks'; readonly url: string; readonly algorithms: readonly HubAlgorithm[] }
  | {
      readonly kind: 'key-set'
      readonly url: string
      readonly keys: readonly unknown[]
      readonly algorithms: readonly HubAlgorithm[]
    }

/** One trusted issuer. At least one verifier is present. */
export interface HubIssuer {
  /** Compared with `iss` exactly; never rewritten. */
  readonly issuer: string
  /** True to advertise the issuer in the metadata document. */
  readonly authorizationServer: boolean
  readonly publisher: HubVerifier | undefined
  readonly subscriber: HubVerifier | undefined
}

/** Every setting of the hub, resolved and frozen. Durations are in ms, sizes in bytes; 0 means off. */
export interface HubConfig {
  /** False without any issuer, anonymous mode and dev mode: all hub routes then answer 404. */
  readonly enabled: boolean
  readonly issuers: readonly HubIssuer[]
  /** The pinned resource identifier, or undefined when it is derived from each request. */
  readonly resourceIdentifier: string | undefined
  /** What relative patterns and topics are resolved against; fixed at boot, never from a request. */
  readonly matcherBaseUrl: string
  /** Allowed public origins in normal form (`https://host[:port]`); empty: no restriction. */
  readonly publicUrls: readonly string[]
  readonly allowInsecureHttp: boolean
  readonly anonymous: boolean
  readonly subscriptions: boolean
  /** Origin patterns for publishing by cookie, lower case; `*` allows every origin. */
  readonly publishOrigins: readonly string[]
  /** Origin patterns for CORS, lower case; `*` allows every origin without credentials. */
  readonly corsOrigins: readonly string[]
  readonly cookieName: string
  readonly heartbeatMs: number
  readonly writeTimeoutMs: number
  readonly dispatchTimeoutMs: number
  readonly maxRequestBodyBytes: number
  /** `persistent` keeps history in the broker's store, `local` keeps none. */
  readonly transport: 'persistent' | 'local'
  /** Most updates kept; 0 = unlimited. */
  readonly historySize: number
  /** Probability from 0 to 1 that a publish trims the history. */
  readonly cleanupFrequency: number
  /** Cached match results; 0 = no cache. */
  readonly topicMatcherCache: number
  /** Cached recipient lists; 0 = unbounded. */
  readonly subscriberListCacheSize: number
  readonly debugger: boolean
  /** Development mode (`playground` in the protocol's words). */
  readonly dev: boolean
  /** Lines for the log at boot: what is allowed but unwise, and what dev mode filled in. */
  readonly warnings: readonly string[]
}
