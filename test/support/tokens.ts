import { constants, createHmac, type KeyObject, type SigningOptions, sign } from 'node:crypto'
import { START_S } from './clock.ts'
import { ecKey, edKey, HS_SECRET, rsaKey } from './keys.ts'

/** What signs a token: a secret (text or bytes) for HS algorithms, a private key for the others. */
export type SigningKey = string | Buffer | KeyObject

interface Signer {
  readonly hash: string | null
  readonly options?: SigningOptions
}

const PSS: SigningOptions = {
  padding: constants.RSA_PKCS1_PSS_PADDING,
  saltLength: constants.RSA_PSS_SALTLEN_DIGEST,
}
const P1363: SigningOptions = { dsaEncoding: 'ieee-p1363' }

/** Every algorithm a test can sign with. `ES256-DER` is ES256 in the wrong form (case A60). */
const SIGNERS: ReadonlyMap<string, Signer> = new Map<string, Signer>([
  ['RS256', { hash: 'sha256' }],
  ['RS384', { hash: 'sha384' }],
  ['RS512', { hash: 'sha512' }],
  ['PS256', { hash: 'sha256', options: PSS }],
  ['PS384', { hash: 'sha384', options: PSS }],
  ['PS512', { hash: 'sha512', options: PSS }],
  ['ES256', { hash: 'sha256', options: P1363 }],
  ['ES384', { hash: 'sha384', options: P1363 }],
  ['ES512', { hash: 'sha512', options: P1363 }],
  ['ES256-DER', { hash: 'sha256', options: { dsaEncoding: 'der' } }],
  ['EdDSA', { hash: null }],
  ['Ed25519', { hash: null }],
])

const HMAC: ReadonlyMap<string, string> = new Map([
  ['HS256', 'sha256'],
  ['HS384', 'sha384'],
  ['HS512', 'sha512'],
])

/** Signs `input` under `alg`; `none` gives an empty signature. */
export function signature(alg: string, key: SigningKey, input: string): Buffer {
  if (alg === 'none') return Buffer.alloc(0)
  const hmac = HMAC.get(alg)
  if (hmac) return createHmac(hmac, key).update(input).digest()
  const signer = SIGNERS.get(alg)
  if (!signer || typeof key === 'string' || Buffer.isBuffer(key)) {
    throw new TypeError(`cannot sign ${alg} with that key`)
  }
  return sign(signer.hash, Buffer.from(input), { key, ...signer.options })
}

/** One part of a compact token: text and bytes are encoded as they are, anything else as JSON. */
export function segment(value: unknown): string {
  const raw = typeof value === 'string' || Buffer.isBuffer(value)
  return Buffer.from(raw ? value : JSON.stringify(value)).toString('base64url')
}

/** The parts of a token; a header or payload given as text or bytes is used as it is, well formed or not. */
export interface TokenParts {
  readonly header: unknown
  readonly payload: unknown
  /** How it is signed, whatever the header says. */
  readonly alg: string
  readonly key: SigningKey
}

/** A compact token (RFC 7515 §7.1) from exactly these parts. */
export function compactToken({ header, payload, alg, key }: TokenParts): string {
  const input = `${segment(header)}.${segment(payload)}`
  return `${input}.${signature(alg, key, input).toString('base64url')}`
}

/** What `mint` may be told; everything has a default that makes a good read-write token. */
export interface MintOptions {
  readonly alg?: string
  readonly key?: SigningKey
  /** Replace or add claims; `undefined` removes one. */
  readonly claims?: Readonly<Record<string, unknown>>
  /** Replace or add header members; `undefined` removes one. */
  readonly header?: Readonly<Record<string, unknown>>
}

const SAMPLE_KEYS: ReadonlyMap<string, () => SigningKey> = new Map<string, () => SigningKey>([
  ['HS', () => HS_SECRET],
  ['RS', () => rsaKey().privateKey],
  ['PS', () => rsaKey().privateKey],
  ['ES', () => ecKey().privateKey],
  ['Ed', () => edKey().privateKey],
  ['no', () => ''],
])

/** The fixture key that belongs to `alg`: `HS_SECRET`, `rsaKey()`, `ecKey()` or `edKey()`. */
export function sampleKey(alg: string): SigningKey {
  const make = SAMPLE_KEYS.get(alg.slice(0, 2))
  if (!make) throw new TypeError(`no fixture key for ${alg}`)
  return make()
}

/**
 * Mints a token. Default: HS256 with `HS_SECRET`, role read-write, issued at the start of the fake
 * clock, one hour long; `claims` and `header` override, `undefined` removes.
 */
export function mint(options: MintOptions = {}): string {
  const alg = options.alg ?? 'HS256'
  return compactToken({
    alg,
    key: options.key ?? sampleKey(alg),
    header: { alg, typ: 'JWT', ...options.header },
    payload: {
      sub: 'tester',
      role: 'read-write',
      iat: START_S,
      exp: START_S + 3600,
      ...options.claims,
    },
  })
}

/** A good HS256 token of one role; the word is the default role name. */
export function roleToken(role: string): string {
  return mint({ claims: { role } })
}

/** The same token with the first character of its signature changed. */
export function withBrokenSignature(token: string): string {
  const at = token.lastIndexOf('.') + 1
  return token.slice(0, at) + (token[at] === 'A' ? 'B' : 'A') + token.slice(at + 1)
}

/** A good token padded by one claim to `bytes` characters, or at most three more. */
export function tokenOfSize(bytes: number, options: MintOptions = {}): string {
  for (let filler = Math.floor(bytes * 0.75) - 500; ; filler += 1) {
    const claims = { ...options.claims, filler: 'x'.repeat(Math.max(filler, 0)) }
    const token = mint({ ...options, claims })
    if (token.length >= bytes) return token
  }
}
