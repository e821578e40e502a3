import type { MintingKey } from '../config/index.ts'
import { ALGORITHMS, MAX_TOKEN_BYTES, mintToken } from '../tokens/index.ts'
import type { TokenClaims } from './claims.ts'
import { IssuerError } from './errors.ts'

/** A minted token with everything that the mint endpoint answers. */
export interface MintedToken {
  readonly token: string
  /** Lifetime in seconds. */
  readonly expires_in: number
  /** Seconds since the epoch. */
  readonly expires_at: number
  readonly kid: string
  readonly claims: TokenClaims
}

/** What is minted with. */
export interface MinterOptions {
  readonly key: MintingKey
  /** Lifetime of a token in seconds. */
  readonly ttlS: number
  readonly clock: { now(): number }
}

/**
 * Signs a path-prefix token: header `alg`, `kid` and `typ: JWT`; claims `root`, `put`, `get`, `iat`, `exp`.
 * @throws IssuerError (`invalid_argument`) when the claims make a token that no verifier here would read
 */
export async function mintPathToken(
  options: MinterOptions,
  claims: TokenClaims,
): Promise<MintedToken> {
  const { key, ttlS, clock } = options
  const algorithm = ALGORITHMS.get(key.alg)
  if (!algorithm) throw new TypeError(`no such algorithm: ${key.alg}`)
  const iat = Math.floor(clock.now() / 1000)
  const exp = iat + ttlS
  const { root, put, get } = claims
  const token = await mintToken({
    alg: algorithm.name,
    key: { kind: algorithm.kind, key: key.key },
    kid: key.kid,
    typ: 'JWT',
    claims: { root, put, get, iat, exp },
  })
  if (token.length > MAX_TOKEN_BYTES) {
    throw new IssuerError('invalid_argument', 'Too many herds for one token')
  }
  return { token, expires_in: ttlS, expires_at: exp, kid: key.kid, claims: { root, put, get } }
}
