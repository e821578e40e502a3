import { type Grants, readAuthorizationDetails, type TopicMatchers } from '../access/index.ts'
import type { HubRole } from '../config/index.ts'
import {
  allowedAlgorithm,
  type Claims,
  checkAudience,
  checkTimes,
  claim,
  claimsOf,
  type DecodedToken,
  decodeToken,
  keyRequest,
  quoted,
  readTimes,
  TokenError,
  type TokenTimes,
  VerifiedTokenCache,
  verifySignature,
} from '../tokens/index.ts'
import { keySourcesOf, type TrustedIssuers, type TrustedVerifier } from './trusted-issuers.ts'

/** RFC 9068 section 2.1, compared without case. Any other type is a token made for another purpose. */
const ACCESS_TOKEN_TYPES = new Set(['at+jwt', 'application/at+jwt'])

/** No tolerance: a token is expired when now ≥ exp (protocol, 6.1). */
const TIME_RULE = { skewS: 0, requireExp: true, expiredAtExp: true } as const
/** `iat` is not looked at: one in the future is no reason to refuse. */
const TIME_NAMES = ['exp', 'nbf'] as const

/** An access token that passed every check but those that depend on the moment and on the request. */
export interface AccessToken {
  readonly claims: Claims
  readonly grants: Grants
  readonly times: TokenTimes
}

/** Whether a token header says that it is an access token of RFC 9068. */
export function isAccessTokenType(typ: unknown): boolean {
  return typeof typ === 'string' && ACCESS_TOKEN_TYPES.has(typ.toLowerCase())
}

/** Verifies access tokens (RFC 9068) against the trusted issuers, and remembers those that passed. */
export class AccessTokenVerifier {
  readonly #issuers: TrustedIssuers
  readonly #matchers: TopicMatchers
  readonly #now: () => number
  readonly #cache = new VerifiedTokenCache<AccessToken>()

  constructor(issuers: TrustedIssuers, matchers: TopicMatchers, clock: { now(): number }) {
    this.#issuers = issuers
    this.#matchers = matchers
    this.#now = () => clock.now()
    for (const source of keySourcesOf(issuers)) source.onChange(() => this.#cache.clear())
  }

  /**
   * Verifies a token for one role. The clock and the audience are asked on every call, also about a token that is
   * remembered.
   * @throws TokenError or DetailsError for a token that is bad
   */
  async verify(compact: string, role: HubRole, resourceIdentifier: string): Promise<AccessToken> {
    // A role has keys of its own, so what passed for one says nothing about the other.
    const entry = `${role} ${compact}`
    const known = this.#cache.find(entry)
    if (known !== undefined) {
      this.#checkMoment(known, resourceIdentifier)
      return known
    }
    const { generation } = this.#cache
    const token = decodeToken(compact)
    await this.#checkSignature(token, role)
    const verified = this.#read(token)
    this.#checkMoment(verified, resourceIdentifier)
    const fresh = { ...verified, grants: this.#grants(verified.claims) }
    this.#cache.store(entry, fresh, generation)
    return fresh
  }

  /** The issuer named by the token, not yet verified, only chooses among the configured ones. */
  #verifierFor(claims: Claims, role: HubRole): TrustedVerifier {
    const iss = claim(claims, 'iss')
    const roles = typeof iss === 'string' ? this.#issuers.get(iss) : undefined
    if (roles === undefined) {
      const names = [...this.#issuers.keys()].map(quoted).join(', ')
      throw new TokenError('issuer_invalid', `iss is ${quoted(iss)}, wanted ${names}`)
    }
    const verifier = roles[role]
    if (verifier !== undefined) return verifier
    throw new TokenError('issuer_invalid', `iss ${quoted(iss)} has no ${role} verifier`)
  }

  async #checkSignature(token: DecodedToken, role: HubRole): Promise<void> {
    const { algorithms, keys } = this.#verifierFor(claimsOf(token), role)
    const algorithm = allowedAlgorithm(token, algorithms)
    const candidates = await keys.candidates(keyRequest(token, algorithm))
    await verifySignature(token, algorithm, candidates)
  }

  #read(token: DecodedToken): Omit<AccessToken, 'grants'> {
    const { typ } = token.header
    if (!isAccessTokenType(typ)) throw new TokenError('claims_invalid', 'typ is not at+jwt')
    const claims = claimsOf(token)
    return { claims, times: readTimes(claims, TIME_NAMES) }
  }

  #checkMoment(
    { claims, times }: Pick<AccessToken, 'claims' | 'times'>,
    resourceIdentifier: string,
  ): void {
    checkAudience(claims, resourceIdentifier)
    checkTimes(times, TIME_RULE, this.#now() / 1000)
  }

  /** Read last: compiling patterns costs more than every other check. */
  #grants(claims: Claims): Grants {
    return readAuthorizationDetails(claim(claims, 'authorization_details'), this.#matchers)
  }
}
