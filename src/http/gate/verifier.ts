import { type Level, levelsOpenTo, type RoleMapping, rolesHeld } from '../../access/index.ts'
import type { AuthConfig } from '../../config/index.ts'
import {
  ALGORITHMS,
  type Algorithm,
  type AlgorithmName,
  allowedAlgorithm,
  type Claims,
  checkAudience,
  checkIssuer,
  checkTimes,
  claim,
  claimsOf,
  type DecodedToken,
  decodeToken,
  deepFreeze,
  keyRequest,
  MAX_TOKEN_BYTES,
  quoted,
  readTimes,
  subjectOf,
  type TimeRule,
  TokenError,
  type TokenTimes,
  VerifiedTokenCache,
  verifySignature,
} from '../../tokens/index.ts'
import { tokenOf } from './credential.ts'
import type { Identity } from './identity.ts'
import type { RoleKeys } from './key-sources.ts'
import { type Trace, traced } from './trace.ts'

/** A token that passed every check but the one against the route. */
export interface VerifiedToken {
  readonly identity: Identity
  readonly times: TokenTimes
  /** The levels that the roles held open. */
  readonly opens: ReadonlySet<Level>
}

const HS: readonly AlgorithmName[] = ['HS256', 'HS384', 'HS512']
const RS: readonly AlgorithmName[] = ['RS256', 'RS384', 'RS512']

/** Seed "Algorithms and auto-detection"; a setting that is no row here accepts exactly itself. */
const WIDE_SETTINGS: ReadonlyMap<string, readonly AlgorithmName[]> = new Map([
  ['auto', [...HS, ...RS, 'EdDSA' as const]],
  ['RS256', RS],
])

/** The rows of the algorithms that a token may declare under a value of `JWT_ALGORITHM`. */
export function acceptedAlgorithms(setting: string): ReadonlyMap<string, Algorithm> {
  const names: readonly string[] = WIDE_SETTINGS.get(setting) ?? [setting]
  return new Map([...ALGORITHMS].filter(([name]) => names.includes(name)))
}

function mappingOf(config: AuthConfig): RoleMapping {
  return {
    claim: config.rolesClaim,
    arrayClaim: config.rolesArrayClaim,
    values: {
      admin: config.roleAdmin,
      'read-write': config.roleReadWrite,
      'read-only': config.roleReadOnly,
      'write-only': config.roleWriteOnly,
    },
  }
}

const TIME_CLAIMS = ['exp', 'nbf', 'iat'] as const

/** Judges tokens: everything that does not depend on the route. Keeps what it verified. */
export class TokenVerifier {
  readonly #config: AuthConfig
  readonly #keys: RoleKeys
  readonly #nowS: () => number
  readonly #accepted: ReadonlyMap<string, Algorithm>
  readonly #mapping: RoleMapping
  readonly #timeRule: TimeRule
  readonly #cache: VerifiedTokenCache<VerifiedToken>
  /**
   * What was found in the cache in this turn of the event loop, by the credential itself: a busy client sends the same
   * one on many connections, and its digest is most of what a hit costs. A Map compares texts only where their hashes,
   * seeded for the process, are equal, so that the time it takes tells nobody how much of a guess was right.
   */
  readonly #inTurn = new Map<string, VerifiedToken>()
  readonly #endTurn = (): void => this.#inTurn.clear()

  constructor(config: AuthConfig, keys: RoleKeys, clock: { now(): number }, cacheSize?: number) {
    this.#cache = new VerifiedTokenCache(cacheSize)
    this.#config = config
    this.#keys = keys
    this.#nowS = () => clock.now() / 1000
    this.#accepted = acceptedAlgorithms(config.algorithm)
    this.#mapping = mappingOf(config)
    this.#timeRule = { skewS: config.clockSkewS }
    keys.onChange(() => {
      this.#cache.clear()
      this.#inTurn.clear()
    })
  }

  /**
   * Verifies the token of a credential, at once if it was verified before; the clock is asked anew each time.
   * Order: decodable, algorithm, key, signature, temporal claims, issuer, audience (design: "Token order").
   * @throws TokenError or KeyError, directly or as a rejection
   */
  verify(credential: string, trace?: Trace): VerifiedToken | Promise<VerifiedToken> {
    const known = trace === undefined ? this.#find(credential) : undefined
    if (known === undefined) return this.#verifyAnew(tokenOf(credential), trace)
    checkTimes(known.times, this.#timeRule, this.#nowS())
    return known
  }

  #find(credential: string): VerifiedToken | undefined {
    const seen = this.#inTurn.get(credential)
    if (seen !== undefined) return seen
    const token = tokenOf(credential)
    const known = token.length > MAX_TOKEN_BYTES ? undefined : this.#cache.find(token)
    if (known === undefined) return undefined
    if (this.#inTurn.size === 0) setImmediate(this.#endTurn)
    this.#inTurn.set(credential, known)
    return known
  }

  async #verifyAnew(token: string, trace?: Trace): Promise<VerifiedToken> {
    const { generation } = this.#cache
    const decoded = traced(
      trace,
      'token',
      () => decodeToken(token),
      () => 'decodable',
    )
    const algorithm = traced(
      trace,
      'algorithm',
      () => allowedAlgorithm(decoded, this.#accepted),
      () => `${decoded.header.alg}, among ${[...this.#accepted.keys()].join(', ')}`,
    )
    await this.#checkSignature(decoded, algorithm, trace)
    const verified = this.#judge(decoded, trace)
    this.#cache.store(token, verified, generation)
    return verified
  }

  async #checkSignature(token: DecodedToken, algorithm: Algorithm, trace?: Trace): Promise<void> {
    const source = this.#keys.of(algorithm.kind)
    const request = keyRequest(token, algorithm)
    const found = traced(
      trace,
      'key source',
      () => source?.candidates(request) ?? [],
      () => `${source?.about}, ${request.kid ? `kid ${quoted(request.kid)}` : 'no kid'}`,
    )
    const keys = found instanceof Promise ? await found : found
    try {
      await verifySignature(token, algorithm, keys)
      trace?.({ name: 'signature', verdict: 'pass', detail: 'made by that key' })
    } catch (error) {
      const known = error instanceof TokenError
      const name = known && error.code === 'key_unknown' ? 'key' : 'signature'
      trace?.({ name, verdict: 'fail', detail: known ? error.message : 'cannot be verified' })
      throw error
    }
  }

  #judge(token: DecodedToken, trace?: Trace): VerifiedToken {
    const claims = traced(
      trace,
      'payload',
      () => claimsOf(token),
      () => 'a JSON object',
    )
    const sub = traced(
      trace,
      'sub',
      () => subjectOf(claims),
      () => quoted(claim(claims, 'sub')),
    )
    const times = this.#checkTimes(claims, trace)
    this.#checkParties(claims, trace)
    const roles = rolesHeld(claims, this.#mapping)
    const identity: Identity = Object.freeze({
      ...(sub === undefined ? {} : { sub }),
      roles,
      claims: deepFreeze(claims),
      header: token.header,
    })
    return { identity, times, opens: levelsOpenTo(roles) }
  }

  #checkTimes(claims: Claims, trace?: Trace): TokenTimes {
    const times = traced(
      trace,
      'dates',
      () => readTimes(claims),
      () => 'numbers or absent',
    )
    const nowS = this.#nowS()
    if (trace === undefined) {
      checkTimes(times, this.#timeRule, nowS)
      return times
    }
    for (const name of TIME_CLAIMS) {
      const value = times[name]
      const check = () => checkTimes({ [name]: value }, this.#timeRule, nowS)
      traced(trace, name, check, () => (value === undefined ? 'absent' : `${value}, now ${nowS}`))
    }
    return times
  }

  #checkParties(claims: Claims, trace?: Trace): void {
    const { issuer, audience } = this.#config
    if (issuer === '') trace?.({ name: 'iss', verdict: 'note', detail: 'not checked' })
    else {
      traced(
        trace,
        'iss',
        () => checkIssuer(claims, issuer),
        () => quoted(issuer),
      )
    }
    if (audience === '') trace?.({ name: 'aud', verdict: 'note', detail: 'not checked' })
    else {
      traced(
        trace,
        'aud',
        () => checkAudience(claims, audience),
        () => `holds ${quoted(audience)}`,
      )
    }
  }
}
