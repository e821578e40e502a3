import type { KeyObject } from 'node:crypto'

/** What a key is, independent of the algorithms that use it. A `secret` is a byte string for HMAC. */
export type KeyKind = 'secret' | 'rsa' | 'ec-p256' | 'ec-p384' | 'ec-p521' | 'ed25519'

/** One key that can verify signatures: a public key or a shared secret, never a private key. */
export interface VerificationKey {
  readonly kind: KeyKind
  readonly key: KeyObject
  /** Absent for an unnamed key. */
  readonly kid?: string
  /** The `alg` a JWK states; such a key verifies that algorithm only. */
  readonly alg?: string
}

/** What a token asks of a key source. */
export interface KeyRequest {
  /** The kind that the token's algorithm needs. */
  readonly kind: KeyKind
  /** The names under which a JWK may state that algorithm: `EdDSA` is also written `Ed25519` (RFC 9864). */
  readonly jwkAlgs: readonly string[]
  /** Absent or empty for a token that names no key. */
  readonly kid?: string | undefined
}

/** Where verification keys come from. */
export interface KeySource {
  /** One short line for logs and `explain`, such as `JWT_PUBLIC_KEY (RSA, 2048 bits)`; never key material. */
  readonly about: string
  /**
   * The keys to try, best first; empty if no key fits. Answers at once whenever no fetch is needed.
   * @throws KeyError if the key material itself is unusable; that is the server's fault, not the token's
   */
  candidates(request: KeyRequest): readonly VerificationKey[] | Promise<readonly VerificationKey[]>
  /** Calls back after each change of the keys, so that cached verifications can be dropped; returns the way to stop. */
  onChange(listener: () => void): () => void
  /** Stops timers and fetches. */
  close(): void
}

/** `secret_missing`: no HMAC secret is set. `key_unusable`: a PEM or JWK that cannot serve as the key wanted. */
export type KeyErrorCode = 'secret_missing' | 'key_unusable'

/** Key material of ours that cannot be used: the server is wrong, the request was well-formed. Holds no key material. */
export class KeyError extends Error {
  readonly code: KeyErrorCode
  /** The kind of key that was wanted. */
  readonly kind: KeyKind | undefined
  constructor(code: KeyErrorCode, message: string, kind?: KeyKind, options?: ErrorOptions) {
    super(message, options)
    this.name = 'KeyError'
    this.code = code
    this.kind = kind
  }
}

/** Whether a key may verify what the request asks for: the kind fits and a stated `alg` is the token's. */
export function fits(key: VerificationKey, request: KeyRequest): boolean {
  return key.kind === request.kind && (key.alg === undefined || request.jwkAlgs.includes(key.alg))
}

const CURVE_KINDS: ReadonlyMap<string, KeyKind> = new Map([
  ['prime256v1', 'ec-p256'],
  ['secp384r1', 'ec-p384'],
  ['secp521r1', 'ec-p521'],
])

/** RFC 7518 §3.3 asks for 2 048 bits or more. */
export const MIN_RSA_BITS = 2048

/** The kind of a public or private key, or undefined for one that no algorithm here uses. */
export function kindOf(key: KeyObject): KeyKind | undefined {
  if (key.type === 'secret') return 'secret'
  if (key.asymmetricKeyType === 'rsa') return 'rsa'
  if (key.asymmetricKeyType === 'ed25519') return 'ed25519'
  if (key.asymmetricKeyType !== 'ec') return undefined
  return CURVE_KINDS.get(key.asymmetricKeyDetails?.namedCurve ?? '')
}

/** Why an RSA key is too weak to trust, or undefined. An exponent of 1 would let anyone forge. */
export function rsaWeakness(key: KeyObject): string | undefined {
  const { modulusLength = 0, publicExponent = 0n } = key.asymmetricKeyDetails ?? {}
  if (modulusLength < MIN_RSA_BITS) {
    return `an RSA key of ${modulusLength} bits is too short, ${MIN_RSA_BITS} is the least`
  }
  return publicExponent < 3n ? 'an RSA key with public exponent 1 protects nothing' : undefined
}
