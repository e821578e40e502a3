import type { KeyKind } from '../keys/index.ts'

/** Names of the signature algorithms (RFC 7518 §3.1, RFC 8037 §3.1); `none` is not among them. */
export type AlgorithmName =
  | `${'HS' | 'RS' | 'PS'}${256 | 384 | 512}`
  | `ES${256 | 384 | 512}`
  | 'EdDSA'

export type AlgorithmFamily = 'HMAC' | 'RSA' | 'RSA-PSS' | 'ECDSA' | 'EdDSA'

/** One row of the table: all that is known about an algorithm. */
export interface Algorithm {
  readonly name: AlgorithmName
  readonly family: AlgorithmFamily
  /** The only kind of key that may verify it; the configured key never bends to the token. */
  readonly kind: KeyKind
  /** The names under which a JWK may state it. */
  readonly jwkAlgs: readonly string[]
  /** HMAC only: the least length of a good secret in bytes, the size of the hash (RFC 7518 §3.2). */
  readonly secretBytes?: number
  /** HMAC only: the name of the hash. */
  readonly hash?: string
}

function row(
  name: AlgorithmName,
  family: AlgorithmFamily,
  kind: KeyKind,
  more: Partial<Algorithm> = {},
): [AlgorithmName, Algorithm] {
  return [name, Object.freeze({ name, family, kind, jwkAlgs: [name], ...more })]
}

/** The one table of algorithms for every dialect; a Map, because it is looked up with text from outside. */
export const ALGORITHMS: ReadonlyMap<string, Algorithm> = new Map<string, Algorithm>([
  row('HS256', 'HMAC', 'secret', { secretBytes: 32, hash: 'sha256' }),
  row('HS384', 'HMAC', 'secret', { secretBytes: 48, hash: 'sha384' }),
  row('HS512', 'HMAC', 'secret', { secretBytes: 64, hash: 'sha512' }),
  row('RS256', 'RSA', 'rsa'),
  row('RS384', 'RSA', 'rsa'),
  row('RS512', 'RSA', 'rsa'),
  row('PS256', 'RSA-PSS', 'rsa'),
  row('PS384', 'RSA-PSS', 'rsa'),
  row('PS512', 'RSA-PSS', 'rsa'),
  row('ES256', 'ECDSA', 'ec-p256'),
  row('ES384', 'ECDSA', 'ec-p384'),
  row('ES512', 'ECDSA', 'ec-p521'),
  // RFC 9864 gives Ed25519 a name of its own; key sets use either, tokens here the older one.
  row('EdDSA', 'EdDSA', 'ed25519', { jwkAlgs: ['EdDSA', 'Ed25519'] }),
])
