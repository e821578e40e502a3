import { type Claims, claim } from './decode.ts'
import { TokenError } from './errors.ts'

/** NumericDates of a token: seconds since the epoch, fractions allowed (RFC 7519 §2). */
export interface TokenTimes {
  readonly exp?: number | undefined
  readonly nbf?: number | undefined
  readonly iat?: number | undefined
}

/** How the clock is applied; see {@link checkTimes}. */
export interface TimeRule {
  /** Tolerance in seconds. */
  readonly skewS: number
  /** Refuses a token without `exp`. */
  readonly requireExp?: boolean
  /** A token is expired from the moment `exp` on, not only after it (hub protocol §6.1). */
  readonly expiredAtExp?: boolean
}

const TIME_CLAIMS = ['exp', 'nbf', 'iat'] as const
type TimeClaim = (typeof TIME_CLAIMS)[number]

/**
 * Reads the temporal claims; only those named are looked at.
 * @throws TokenError (`claims_invalid`) for one that is not a finite number: `1e999` must not mean "never expires"
 */
export function readTimes(claims: Claims, names: readonly TimeClaim[] = TIME_CLAIMS): TokenTimes {
  const times: Partial<Record<TimeClaim, number>> = {}
  for (const name of names) {
    const value = claim(claims, name)
    if (value === undefined) continue
    if (typeof value !== 'number' || !Number.isFinite(value)) {
      throw new TokenError('claims_invalid', `${name} is not a number`)
    }
    times[name] = value
  }
  return times
}

/**
 * Checks the temporal claims. Seed: "Claim validation": expired once now > exp + skew, not yet valid while
 * now + skew < nbf, from the future while iat > now + skew. Nothing is rounded.
 * @param nowS the time in seconds, with its fraction
 * @throws TokenError (`token_expired`, `token_not_active`, `token_from_future`, `claims_invalid` for a missing `exp`)
 */
export function checkTimes(times: TokenTimes, rule: TimeRule, nowS: number): void {
  const { exp, nbf, iat } = times
  const { skewS } = rule
  if (exp === undefined && rule.requireExp) throw new TokenError('claims_invalid', 'exp is missing')
  if (exp !== undefined && (nowS > exp + skewS || (rule.expiredAtExp && nowS === exp + skewS))) {
    throw new TokenError('token_expired', `exp ${exp} is past`)
  }
  if (nbf !== undefined && nowS + skewS < nbf) {
    throw new TokenError('token_not_active', `nbf ${nbf} is ahead`)
  }
  if (iat !== undefined && iat > nowS + skewS) {
    throw new TokenError('token_from_future', `iat ${iat} is ahead`)
  }
}

/** A value of a claim for the log: quoted, and cut so that a token cannot flood it. */
export function quoted(value: unknown): string {
  const text = JSON.stringify(value) ?? 'nothing'
  return text.length > 200 ? `${text.slice(0, 200)}…` : text
}

/**
 * Compares `iss` exactly: no slash is added or dropped.
 * @throws TokenError (`issuer_invalid`; `claims_invalid` for a value that is not a string)
 */
export function checkIssuer(claims: Claims, issuer: string): void {
  const value = claim(claims, 'iss')
  if (value !== undefined && typeof value !== 'string') {
    throw new TokenError('claims_invalid', 'iss is not a string')
  }
  if (value !== issuer) {
    throw new TokenError('issuer_invalid', `iss is ${quoted(value)}, wanted ${quoted(issuer)}`)
  }
}

/**
 * Looks for one audience in `aud`, a string or an array of strings; one match is enough.
 * @throws TokenError (`audience_invalid`; `claims_invalid` for another type)
 */
export function checkAudience(claims: Claims, audience: string): void {
  const value = claim(claims, 'aud')
  const members: readonly unknown[] = Array.isArray(value) ? value : [value]
  if (value !== undefined && !members.every((member) => typeof member === 'string')) {
    throw new TokenError('claims_invalid', 'aud is neither a string nor an array of strings')
  }
  if (!members.includes(audience)) {
    throw new TokenError('audience_invalid', `aud is ${quoted(value)}, wanted ${quoted(audience)}`)
  }
}

/**
 * The `sub` claim, if there is one.
 * @throws TokenError (`claims_invalid`) for a value that is not a string
 */
export function subjectOf(claims: Claims): string | undefined {
  const value = claim(claims, 'sub')
  if (value !== undefined && typeof value !== 'string') {
    throw new TokenError('claims_invalid', 'sub is not a string')
  }
  return value
}
