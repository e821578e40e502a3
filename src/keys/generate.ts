import { generateKeyPairSync, type KeyObject, randomBytes } from 'node:crypto'
import { SIGNING_ALGS } from '../config/index.ts'

/** NIST SP 800-57: 3072 bits stand for the security of the other algorithms here. */
const RSA_BITS = 3072
const KID_BYTES = 8

const ed25519 = () => generateKeyPairSync('ed25519').privateKey
const ec = (namedCurve: string) => () => generateKeyPairSync('ec', { namedCurve }).privateKey
const rsa = () => generateKeyPairSync('rsa', { modulusLength: RSA_BITS }).privateKey

const MAKERS: ReadonlyMap<string, () => KeyObject> = new Map<string, () => KeyObject>([
  ...SIGNING_ALGS.filter((alg) => /^[RP]S/.test(alg)).map((alg) => [alg, rsa] as const),
  ['ES256', ec('P-256')],
  ['ES384', ec('P-384')],
  ['EdDSA', ed25519],
])

/** A private JWK for signing, with `kid`, `alg`, `use` and `key_ops`. */
export type PrivateSigningJwk = Readonly<Record<string, unknown>> & {
  readonly kid: string
  readonly alg: string
}

/**
 * Makes a new signing key; `kid` defaults to 16 random hexadecimal digits.
 * @throws RangeError for an algorithm that path-prefix tokens do not use
 */
export function generateSigningJwk(alg: string, kid?: string): PrivateSigningJwk {
  const make = MAKERS.get(alg)
  if (!make) throw new RangeError(`alg must be one of ${SIGNING_ALGS.join(', ')}`)
  return {
    ...make().export({ format: 'jwk' }),
    kid: kid ?? randomBytes(KID_BYTES).toString('hex'),
    alg,
    use: 'sig',
    key_ops: ['sign', 'verify'],
  }
}
