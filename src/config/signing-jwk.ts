import { createPrivateKey, createPublicKey, type KeyObject, sign, verify } from 'node:crypto'
import { z } from 'zod'

/** What one kind of signing key looks like as a JWK (RFC 7518 §6, RFC 8037 §2). */
export interface SigningKeyKind {
  readonly kty: 'RSA' | 'EC' | 'OKP'
  /** The only curve of this kind; absent for RSA. */
  readonly crv?: string
  /** The `alg` values that a key of this kind may carry. */
  readonly algs: readonly string[]
  /** Every member that may be served besides `kty`, `kid`, `alg`, `use` and `key_ops`. */
  readonly publicMembers: readonly string[]
  readonly privateMembers: readonly string[]
}

const RSA_ALGS = ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512']

/** Asymmetric kinds only: with a symmetric one every verifier could also mint (token issuing, 1.3). */
export const SIGNING_KEY_KINDS: readonly SigningKeyKind[] = [
  {
    kty: 'RSA',
    algs: RSA_ALGS,
    publicMembers: ['n', 'e'],
    privateMembers: ['d', 'p', 'q', 'dp', 'dq', 'qi'],
  },
  {
    kty: 'EC',
    crv: 'P-256',
    algs: ['ES256'],
    publicMembers: ['crv', 'x', 'y'],
    privateMembers: ['d'],
  },
  {
    kty: 'EC',
    crv: 'P-384',
    algs: ['ES384'],
    publicMembers: ['crv', 'x', 'y'],
    privateMembers: ['d'],
  },
  {
    kty: 'OKP',
    crv: 'Ed25519',
    algs: ['EdDSA'],
    publicMembers: ['crv', 'x'],
    privateMembers: ['d'],
  },
]

/** All `alg` values of path-prefix tokens, in the order in which messages list them. */
export const SIGNING_ALGS: readonly string[] = SIGNING_KEY_KINDS.flatMap((kind) => kind.algs)

/** NIST SP 800-131A: RSA below 2048 bits is no longer acceptable for signatures. */
export const MIN_RSA_BITS = 2048

/** A key id travels in a path (`{kid}.jwk`), so it holds no character that a URL would change. */
export const KID_PATTERN = /^[A-Za-z0-9_-]{1,128}$/

/** The head that both halves of a signing key share; the other members depend on the kind. */
export const signingJwkSchema = z.looseObject({
  kty: z.string(),
  kid: z.string().regex(KID_PATTERN),
  alg: z.string(),
  crv: z.string().optional(),
})

/** The head of a JWK after `signingJwkSchema`; every other member is still unknown. */
export type SigningJwkHead = z.infer<typeof signingJwkSchema>

/** The row for a JWK's `kty`, `crv` and `alg`; undefined when they do not fit together. */
export function signingKeyKind(jwk: SigningJwkHead): SigningKeyKind | undefined {
  return SIGNING_KEY_KINDS.find(
    (kind) =>
      kind.kty === jwk.kty &&
      (kind.crv === undefined || kind.crv === jwk.crv) &&
      kind.algs.includes(jwk.alg),
  )
}

/** True when a key may sign or verify here; an RSA exponent of 1 would let anyone forge. */
export function isStrongEnough(key: KeyObject): boolean {
  if (key.asymmetricKeyType !== 'rsa') return true
  const { modulusLength = 0, publicExponent = 0n } = key.asymmetricKeyDetails ?? {}
  return modulusLength >= MIN_RSA_BITS && publicExponent >= 3n
}

/** The private key that mints path-prefix tokens; `key` never prints its material. */
export interface MintingKey {
  readonly kid: string
  readonly alg: string
  readonly key: KeyObject
}

/** A key whose halves do not belong together would mint tokens that no one can verify. */
function halvesFit(privateKey: KeyObject): boolean {
  const probe = Buffer.from('hivegate signing key probe')
  const hash = privateKey.asymmetricKeyType === 'ed25519' ? null : 'sha256'
  return verify(hash, probe, createPublicKey(privateKey), sign(hash, probe, privateKey))
}

/** The members that the kind's private JWK is made of; undefined when one is missing. */
function keyMembers(jwk: SigningJwkHead, kind: SigningKeyKind): Record<string, string> | undefined {
  const members: Record<string, string> = { kty: kind.kty }
  for (const name of [...kind.publicMembers, ...kind.privateMembers]) {
    const value = jwk[name]
    if (typeof value !== 'string' || value === '') return undefined
    members[name] = value
  }
  return members
}

function importPrivateJwk(jwk: SigningJwkHead): MintingKey | undefined {
  const kind = signingKeyKind(jwk)
  const members = kind && keyMembers(jwk, kind)
  if (!members) return undefined
  try {
    const key = createPrivateKey({ key: members, format: 'jwk' })
    return isStrongEnough(key) && halvesFit(key) ? { kid: jwk.kid, alg: jwk.alg, key } : undefined
  } catch {
    // The cause may quote key material, so it is dropped; the caller names the variable.
    return undefined
  }
}

/** JSON text, or base64url of it (token issuing, 1.3); undefined when it is neither. */
function jsonOf(text: string): unknown {
  const json = text.startsWith('{') ? text : Buffer.from(text, 'base64url').toString('utf8')
  try {
    return JSON.parse(json)
  } catch {
    return undefined
  }
}

/**
 * Reads one asymmetric private JWK with `kid` and `alg`. Undefined for a symmetric or public key, a
 * missing or odd `kid`, an unsupported `alg`, a short RSA key, or halves that do not belong together.
 */
export function parsePrivateJwk(text: string): MintingKey | undefined {
  const head = signingJwkSchema.safeParse(jsonOf(text.trim()))
  return head.success ? importPrivateJwk(head.data) : undefined
}
