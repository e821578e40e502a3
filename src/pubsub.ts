/**
 * `hivegate/pubsub`: verifies path-prefix tokens in any service (token issuing, 1.7). The keys come from a
 * `{kid}.jwk` address, from one fixed JWK, or from the registry of a broker in the same process.
 */
import { allowsPath, verifyPrefixToken } from './access/index.ts'
import type { PathVerifier } from './http/index.ts'
import {
  fixedSource,
  JwkDirectory,
  type KeySource,
  type Log,
  parsePublicJwk,
  verificationKeyOf,
} from './keys/index.ts'
import { TokenError } from './tokens/index.ts'

export type { PathAction, PrefixClaims } from './access/index.ts'
export { type PathVerifier, requirePath } from './http/index.ts'
export { type PublicJwk, PublicJwkError } from './keys/index.ts'
export { TokenError, type TokenErrorCode } from './tokens/index.ts'

/** Where a verifier takes its keys from. */
export type PubsubKeys =
  /** `{baseUrl}/{kid}.jwk` is fetched and cached; `https://host/pubsub/keys` for this project's broker. */
  | { readonly baseUrl: string }
  /** One public JWK, in the form in which the broker serves it. */
  | { readonly jwk: unknown }
  /** The registry of a broker in the same process. */
  | { readonly registry: KeySource }

/** Settings of a verifier. */
export interface PubsubVerifierOptions {
  readonly keys: PubsubKeys
  /** Time in ms; default: the machine's. */
  readonly clock?: { now(): number }
  /** Where failed key fetches are reported; a pino logger will do. */
  readonly log?: Log
  /** Refuses tokens without `exp`, as the event hub does; default false: an absent `exp` is no fault. */
  readonly requireExp?: boolean
}

/** A verifier; `close` ends its fetches. */
export interface PubsubVerifier extends PathVerifier {
  close(): void
}

/** A token that names another key than a fixed, named one is refused. */
function fixedJwk(input: unknown): KeySource {
  const named = typeof input === 'object' && input !== null && 'kid' in input
  const jwk = named || typeof input !== 'object' ? input : { ...input, kid: 'unnamed' }
  const key = verificationKeyOf(parsePublicJwk(jwk))
  const source = fixedSource([key], 'one fixed JWK')
  const fitsName = (kid: string | undefined) => !named || kid === undefined || kid === key.kid
  return {
    ...source,
    candidates: (request) => (fitsName(request.kid) ? source.candidates(request) : []),
  }
}

function sourceOf({ keys, clock, log }: PubsubVerifierOptions): KeySource {
  if ('registry' in keys) return keys.registry
  if ('jwk' in keys) return fixedJwk(keys.jwk)
  const { baseUrl } = keys
  return new JwkDirectory({ baseUrl, ...(clock && { clock }), ...(log && { log }) })
}

/**
 * Makes a verifier of path-prefix tokens.
 * @throws PublicJwkError for a fixed JWK that is no public signing key; TypeError for a `baseUrl` that is no URL
 */
export function createPubsubVerifier(options: PubsubVerifierOptions): PubsubVerifier {
  const { keys, clock = Date, log, requireExp = false } = options
  const source = sourceOf(options)
  const rules = { keys: source, clock, requireKid: !('jwk' in keys), requireExp }
  return {
    async verify(token) {
      try {
        return (await verifyPrefixToken(token, rules)).claims
      } catch (error) {
        if (error instanceof TokenError) log?.info({ reason: error.code }, 'pub/sub token refused')
        throw error
      }
    },
    allows: allowsPath,
    // A registry belongs to whoever opened it.
    close: () => ('registry' in keys ? undefined : source.close()),
  }
}
