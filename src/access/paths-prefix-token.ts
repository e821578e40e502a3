import { KID_PATTERN, SIGNING_ALGS } from '../config/index.ts'
import type { KeySource } from '../keys/index.ts'
import {
  ALGORITHMS,
  type Algorithm,
  allowedAlgorithm,
  checkTimes,
  claimsOf,
  decodeToken,
  keyRequest,
  readTimes,
  TokenError,
  verifySignature,
} from '../tokens/index.ts'
import { type PrefixClaims, readPrefixClaims } from './paths-prefix-claims.ts'

/** How path-prefix tokens are verified. */
export interface PrefixTokenRules {
  readonly keys: KeySource
  /** Time in ms. */
  readonly clock: { now(): number }
  /** Refuses a token without `kid`: keys that are looked up by name need one. */
  readonly requireKid: boolean
  /** Refuses a token without `exp`. */
  readonly requireExp: boolean
}

/** A path-prefix token that passed every check. */
export interface VerifiedPrefixToken {
  readonly claims: PrefixClaims
  readonly kid: string | undefined
}

/** Asymmetric algorithms only (token issuing, 1.3). */
const ALLOWED: ReadonlyMap<string, Algorithm> = new Map(
  [...ALGORITHMS].filter(([name]) => SIGNING_ALGS.includes(name)),
)

/** Clocks of minter and verifier are expected to agree, as on the hub (hub protocol, 6.1). */
const SKEW_S = 0

function checkKid(kid: string | undefined, required: boolean): void {
  if (kid === undefined ? required : !KID_PATTERN.test(kid)) {
    throw new TokenError('key_unknown', 'the token names no key that could be registered')
  }
}

/**
 * Verifies a path-prefix token. Everything that can be judged without a key is judged first, so that neither
 * registry nor network is asked about a token that is bad anyway. A future `iat` is no fault: only `exp` and
 * `nbf` limit when a token counts.
 * @throws TokenError
 */
export async function verifyPrefixToken(
  compact: string,
  rules: PrefixTokenRules,
): Promise<VerifiedPrefixToken> {
  const token = decodeToken(compact)
  const algorithm = allowedAlgorithm(token, ALLOWED)
  const { kid } = token.header
  checkKid(kid, rules.requireKid)
  const claims = readPrefixClaims(claimsOf(token))
  if (!claims) throw new TokenError('claims_invalid', 'root, put or get is missing or ill-typed')
  const times = readTimes(claimsOf(token), ['exp', 'nbf'])
  const timeRule = { skewS: SKEW_S, requireExp: rules.requireExp, expiredAtExp: true }
  checkTimes(times, timeRule, rules.clock.now() / 1000)
  const keys = await rules.keys.candidates(keyRequest(token, algorithm))
  await verifySignature(token, algorithm, keys)
  return { claims, kid }
}
