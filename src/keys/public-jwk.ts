import { createPublicKey, type KeyObject } from 'node:crypto'
import {
  isStrongEnough,
  type MintingKey,
  signingJwkSchema,
  signingKeyKind,
} from '../config/index.ts'
import { kindOf, type VerificationKey } from './key.ts'

/**
 * A public JWK as it is served (token issuing, 1.8): `kty`, the kind's public members, `kid`, `alg`,
 * `use` and `key_ops`, and nothing else.
 */
export interface PublicJwk {
  readonly kty: string
  readonly kid: string
  readonly alg: string
  readonly use: 'sig'
  readonly key_ops: readonly ['verify']
  readonly crv?: string
  readonly x?: string
  readonly y?: string
  readonly n?: string
  readonly e?: string
}

/** Why a JWK is no public signing key. */
export type PublicJwkFault =
  | 'not_a_jwk'
  | 'private_members'
  | 'unsupported_kind'
  | 'not_for_signatures'
  | 'broken_key'

const FAULT_TEXTS: Readonly<Record<PublicJwkFault, string>> = {
  not_a_jwk: 'jwk must be an object with kty, alg and a kid of letters, digits, _ and -',
  private_members: 'jwk must not hold private members',
  unsupported_kind:
    'kty, crv and alg of jwk must name one supported asymmetric signature algorithm',
  not_for_signatures: 'use of jwk must be sig, and key_ops must list verify, where they are given',
  broken_key: 'jwk must be a well-formed public key (RSA: 2048 bits or more)',
}

/** Raised for a JWK that cannot be registered; the message is fixed text and quotes no member. */
export class PublicJwkError extends Error {
  readonly code: PublicJwkFault
  constructor(code: PublicJwkFault) {
    super(FAULT_TEXTS[code])
    this.name = 'PublicJwkError'
    this.code = code
  }
}

/** Every member of RFC 7518 that only the owner of a key may know, whatever the kind. */
const PRIVATE_MEMBERS = ['d', 'p', 'q', 'dp', 'dq', 'qi', 'oth', 'k']

function isForVerifying(jwk: Readonly<Record<string, unknown>>): boolean {
  const { use, key_ops: ops } = jwk
  const opsFit = ops === undefined || (Array.isArray(ops) && ops.includes('verify'))
  return (use === undefined || use === 'sig') && opsFit
}

function importKey(members: Readonly<Record<string, unknown>>): KeyObject {
  try {
    const key = createPublicKey({ key: { ...members }, format: 'jwk' })
    if (isStrongEnough(key)) return key
  } catch {
    // The cause may quote the input; the fault code below says all that a caller may learn.
  }
  throw new PublicJwkError('broken_key')
}

function served(key: KeyObject, kid: string, alg: string): PublicJwk {
  const { kty = '', crv, x, y, n, e } = key.export({ format: 'jwk' })
  const members = Object.entries({ crv, x, y, n, e }).filter(([, value]) => value !== undefined)
  return { kty, ...Object.fromEntries(members), kid, alg, use: 'sig', key_ops: ['verify'] }
}

/**
 * Checks a JWK from outside and keeps only the members of the allow-list.
 * @throws PublicJwkError
 */
export function parsePublicJwk(input: unknown): PublicJwk {
  const head = signingJwkSchema.safeParse(input)
  if (!head.success) throw new PublicJwkError('not_a_jwk')
  const jwk = head.data
  if (PRIVATE_MEMBERS.some((name) => name in jwk)) throw new PublicJwkError('private_members')
  const kind = signingKeyKind(jwk)
  if (!kind) throw new PublicJwkError('unsupported_kind')
  if (!isForVerifying(jwk)) throw new PublicJwkError('not_for_signatures')
  const picked = kind.publicMembers.map((name) => [name, jwk[name]] as const)
  return served(importKey({ kty: kind.kty, ...Object.fromEntries(picked) }), jwk.kid, jwk.alg)
}

/** The public half of the key that mints. It is derived, never copied, so it holds no private member. */
export function publicHalf(mintingKey: MintingKey): PublicJwk {
  return served(createPublicKey(mintingKey.key), mintingKey.kid, mintingKey.alg)
}

/**
 * The verification key of a served JWK.
 * @throws PublicJwkError for members that make no key, which `parsePublicJwk` never lets through
 */
export function verificationKeyOf(jwk: PublicJwk): VerificationKey {
  const { kty, crv, x, y, n, e } = jwk
  const members = Object.entries({ kty, crv, x, y, n, e }).filter(([, v]) => v !== undefined)
  const key = importKey(Object.fromEntries(members))
  const kind = kindOf(key)
  if (kind === undefined) throw new PublicJwkError('broken_key')
  return { kind, key, kid: jwk.kid, alg: jwk.alg }
}
