import {
  createHash,
  createPublicKey,
  createSecretKey,
  type JsonWebKeyInput,
  type KeyObject,
} from 'node:crypto'
import { z } from 'zod'
import { type KeyKind, kindOf, rsaWeakness, type VerificationKey } from './key.ts'

const base64url = z.string().regex(/^[A-Za-z0-9_-]+$/)
/** Members that no public key has: an entry with one of them gives a private or shared key away. */
const PRIVATE_MEMBERS = ['d', 'p', 'k']
const SHARED_MEMBERS = {
  kid: z.string().optional(),
  alg: z.string().optional(),
  use: z.literal('sig').optional(),
  key_ops: z
    .array(z.string())
    .refine((ops) => ops.includes('verify'))
    .optional(),
}

/** The entries that are read; RFC 7518 §6.2, §6.3 and RFC 8037. Only the members named here reach the key. */
const jwkSchema = z.discriminatedUnion('kty', [
  z.object({ ...SHARED_MEMBERS, kty: z.literal('RSA'), n: base64url, e: base64url }),
  z.object({
    ...SHARED_MEMBERS,
    kty: z.literal('OKP'),
    crv: z.literal('Ed25519'),
    x: base64url.length(43),
  }),
  z.object({
    ...SHARED_MEMBERS,
    kty: z.literal('EC'),
    crv: z.enum(['P-256', 'P-384', 'P-521']),
    x: base64url,
    y: base64url,
  }),
  // A shared secret; read only for a caller that takes the kind `secret`.
  z.object({ ...SHARED_MEMBERS, kty: z.literal('oct'), k: base64url }),
])

function importJwk(jwk: z.output<typeof jwkSchema>): KeyObject | undefined {
  if (jwk.kty === 'oct') return createSecretKey(jwk.k, 'base64url')
  const { kid: _kid, alg: _alg, use: _use, key_ops: _ops, ...material } = jwk
  const input: JsonWebKeyInput = { format: 'jwk', key: material }
  try {
    return createPublicKey(input)
  } catch {
    return undefined
  }
}

function holdsPrivateMember(entry: unknown): boolean {
  return (
    typeof entry === 'object' && entry !== null && PRIVATE_MEMBERS.some((name) => name in entry)
  )
}

/**
 * Reads one entry of a key set, or undefined for one that is not used here: another type, `use` other than `sig`,
 * private members, a weak RSA key, malformed members. An empty `kid` makes an unnamed key.
 * @param kinds the kinds that the caller takes
 */
export function readJwk(entry: unknown, kinds: readonly KeyKind[]): VerificationKey | undefined {
  const parsed = jwkSchema.safeParse(entry)
  if (!parsed.success) return undefined
  if (parsed.data.kty !== 'oct' && holdsPrivateMember(entry)) return undefined
  const key = importJwk(parsed.data)
  const kind = key === undefined ? undefined : kindOf(key)
  if (key === undefined || kind === undefined || !kinds.includes(kind)) return undefined
  if (kind === 'rsa' && rsaWeakness(key) !== undefined) return undefined
  const { kid, alg } = parsed.data
  return {
    kind,
    key,
    ...(kid === undefined || kid === '' ? {} : { kid }),
    ...(alg === undefined ? {} : { alg }),
  }
}

/** Identifies a key with its name and algorithm, to tell whether two are the same. */
function identityOf({ key, kid, alg }: VerificationKey): string {
  const der = key.type === 'secret' ? key.export() : key.export({ format: 'der', type: 'spki' })
  return JSON.stringify([createHash('sha256').update(der).digest('base64'), kid, alg])
}

/** The usable keys of a set, in document order; `fingerprint` changes when and only when the keys or their order do. */
export interface KeySet {
  readonly keys: readonly VerificationKey[]
  readonly fingerprint: string
}

/** Reads the entries of a key set; what is not usable is skipped, identical entries count once. */
export function readJwkSet(entries: readonly unknown[], kinds: readonly KeyKind[]): KeySet {
  const keys = new Map<string, VerificationKey>()
  for (const entry of entries) {
    const key = readJwk(entry, kinds)
    if (key === undefined) continue
    const identity = identityOf(key)
    if (!keys.has(identity)) keys.set(identity, key)
  }
  return { keys: [...keys.values()], fingerprint: [...keys.keys()].join('\n') }
}
