import { generateKeyPairSync, type KeyObject } from 'node:crypto'
import { selfSignedCertificate } from './certificate.ts'

/** A JSON Web Key as it stands in a key set (RFC 7517 §4). */
export type Jwk = Readonly<Record<string, unknown>>

/** One key pair of a test, in every form in which a program may meet it. */
export interface KeyFixture {
  readonly kid: string
  readonly privateKey: KeyObject
  readonly publicKey: KeyObject
  /** `-----BEGIN PUBLIC KEY-----`, LF line ends. */
  readonly publicPem: string
  /** `-----BEGIN PRIVATE KEY-----` (PKCS#8). */
  readonly privatePem: string
  /** The public JWK with `kid`, `use: sig`; `members` replace or add, `undefined` removes. */
  jwk(members?: Jwk): Jwk
  /** The private JWK with `kid`. */
  privateJwk(members?: Jwk): Jwk
}

/** 32 characters: long enough for HS256, and easy to find in a log that must not hold it. */
export const HS_SECRET = 'hs-fixture-0123456789abcdefghijk'

function fixture(kid: string, pair: { privateKey: KeyObject; publicKey: KeyObject }): KeyFixture {
  const jwk = (key: KeyObject, members: Jwk): Jwk => {
    const all = { ...key.export({ format: 'jwk' }), kid, use: 'sig', ...members }
    return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined))
  }
  return {
    kid,
    ...pair,
    publicPem: pair.publicKey.export({ format: 'pem', type: 'spki' }).toString(),
    privatePem: pair.privateKey.export({ format: 'pem', type: 'pkcs8' }).toString(),
    jwk: (members = {}) => jwk(pair.publicKey, members),
    privateJwk: (members = {}) => jwk(pair.privateKey, members),
  }
}

const made = new Map<string, KeyFixture>()

function once(name: string, make: () => KeyFixture): KeyFixture {
  const known = made.get(name)
  if (known) return known
  const fresh = make()
  made.set(name, fresh)
  return fresh
}

/** The RSA pair of that name; made at its first use, the same ever after in this process. */
export function rsaKey(kid = 'rsa-1', modulusLength = 2048): KeyFixture {
  return once(`rsa ${kid} ${modulusLength}`, () =>
    fixture(kid, generateKeyPairSync('rsa', { modulusLength })),
  )
}

/** The Ed25519 pair of that name. */
export function edKey(kid = 'ed-1'): KeyFixture {
  return once(`ed ${kid}`, () => fixture(kid, generateKeyPairSync('ed25519')))
}

/** The EC pair of that name; `namedCurve` is `P-256`, `P-384` or `P-521`. */
export function ecKey(kid = 'ec-1', namedCurve = 'P-256'): KeyFixture {
  return once(`ec ${kid} ${namedCurve}`, () =>
    fixture(kid, generateKeyPairSync('ec', { namedCurve })),
  )
}

/** The RSA public key as PKCS#1: `-----BEGIN RSA PUBLIC KEY-----`. */
export function pkcs1Pem(key: KeyFixture): string {
  return key.publicKey.export({ format: 'pem', type: 'pkcs1' }).toString()
}

/** The public key inside a self-signed X.509 certificate. */
export function certificatePem(key: KeyFixture): string {
  return selfSignedCertificate(key.privateKey, key.publicKey)
}

/** The ways in which a PEM text is damaged on its way through an environment variable (case A21). */
export const PEM_SPELLINGS = {
  plain: (pem: string) => pem,
  escapedLineFeeds: (pem: string) => pem.replaceAll('\n', '\\n'),
  carriageReturns: (pem: string) => pem.replaceAll('\n', '\r\n'),
  edgeBlanks: (pem: string) => `\n  ${pem}  \n\n`,
  commentInFront: (pem: string) => `# the key of the identity provider\n${pem}`,
  quoted: (pem: string) => `"${pem}"`,
  oneLine: (pem: string) => pem.replaceAll('\n', ''),
  base64: (pem: string) => Buffer.from(pem).toString('base64'),
} as const
