import { createPublicKey, type KeyObject } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { z } from 'zod'
import { DEFAULT_JWKS_ALGORITHMS, type HubAlgorithm, type HubVerifier } from './hub-types.ts'
import { cleanPem, holdsPrivateKey, isPem } from './pem-text.ts'
import { quoted } from './variable.ts'

/** RFC 7518 section 3.3 asks for 2048 bits or more. */
const MIN_RSA_BITS = 2048

/** What an algorithm needs of a PEM key: its type and, for elliptic curves, the curve in Node's words. */
const PEM_KINDS: ReadonlyMap<string, string> = new Map([
  ['RS256', 'rsa'],
  ['RS384', 'rsa'],
  ['RS512', 'rsa'],
  ['PS256', 'rsa'],
  ['PS384', 'rsa'],
  ['PS512', 'rsa'],
  ['ES256', 'ec prime256v1'],
  ['ES384', 'ec secp384r1'],
  ['ES512', 'ec secp521r1'],
  ['EdDSA', 'ed25519'],
])

/** What is configured for one role of one issuer. */
export interface VerifierSettings {
  readonly key: string
  readonly alg: HubAlgorithm | ''
  readonly jwksUri: string
  readonly jwksAlgs: readonly HubAlgorithm[]
}

/** The names under which an operator knows the settings, for messages. */
export interface VerifierNames {
  readonly key: string
  readonly alg: string
  readonly jwksUri: string
}

/** Adds one line about a wrong setting; the value of a key is never part of it. */
export type Complain = (line: string) => void

function isHmac(algorithm: HubAlgorithm): boolean {
  return algorithm.startsWith('HS')
}

function publicKeyOf(pem: string): KeyObject | undefined {
  try {
    return createPublicKey(pem)
  } catch {
    return undefined
  }
}

function kindOf(key: KeyObject): string {
  const { namedCurve } = key.asymmetricKeyDetails ?? {}
  return namedCurve === undefined ? `${key.asymmetricKeyType}` : `ec ${namedCurve}`
}

/** Why a PEM text cannot verify an algorithm, or undefined. */
function pemProblem(text: string, algorithm: HubAlgorithm): string | undefined {
  if (holdsPrivateKey(text)) return 'holds a private key, expected the public one'
  const key = publicKeyOf(cleanPem(text))
  if (key === undefined) return 'is no public key in PEM form'
  const kind = kindOf(key)
  if (kind !== PEM_KINDS.get(algorithm))
    return `holds a key of kind ${kind}, not one for ${algorithm}`
  const bits = key.asymmetricKeyDetails?.modulusLength ?? MIN_RSA_BITS
  if (bits < MIN_RSA_BITS) return `holds an RSA key of ${bits} bits, ${MIN_RSA_BITS} is the least`
  return undefined
}

function pemVerifier(
  { key, alg }: VerifierSettings,
  names: VerifierNames,
  complain: Complain,
): HubVerifier | undefined {
  if (alg === '') {
    complain(`${names.alg}: a PEM key needs an algorithm, for example RS256, ES256 or EdDSA`)
    return undefined
  }
  if (isHmac(alg)) {
    // The public key would become the shared secret, and everyone could sign.
    complain(`${names.alg}: got ${alg} for a PEM key, expected an asymmetric algorithm`)
    return undefined
  }
  const problem = pemProblem(key, alg)
  if (problem === undefined) return { kind: 'pem', pem: cleanPem(key), algorithm: alg }
  complain(`${names.key}: ${problem}`)
  return undefined
}

const keySetSchema = z.object({ keys: z.array(z.looseObject({ kty: z.string() })).min(1) })

/** Reads a key set from a local file, once; RFC 8089: the host is empty or `localhost`. */
function fileKeys(url: URL, name: string, complain: Complain): readonly unknown[] | undefined {
  // The URL parser has already turned `localhost` into the empty host.
  if (url.host !== '') {
    complain(`${name}: a file URL names no host but localhost`)
    return undefined
  }
  try {
    const document: unknown = JSON.parse(readFileSync(fileURLToPath(url), 'utf8'))
    return keySetSchema.parse(document).keys
  } catch {
    complain(`${name}: the file cannot be read or holds no JWK set`)
    return undefined
  }
}

function jwksVerifier(
  { jwksUri, jwksAlgs }: VerifierSettings,
  names: VerifierNames,
  complain: Complain,
): HubVerifier | undefined {
  const algorithms = jwksAlgs.length === 0 ? DEFAULT_JWKS_ALGORITHMS : jwksAlgs
  const url = URL.parse(jwksUri)
  if (url?.protocol === 'file:') {
    const keys = fileKeys(url, names.jwksUri, complain)
    return keys === undefined ? undefined : { kind: 'key-set', url: jwksUri, keys, algorithms }
  }
  if (url !== null && /^https?:$/.test(url.protocol)) {
    return { kind: 'jwks', url: jwksUri, algorithms }
  }
  complain(`${names.jwksUri}: got ${quoted(jwksUri)}, expected an http://, https:// or file:// URL`)
  return undefined
}

/**
 * The verifier of one role, or `undefined` without one. Each fault adds a line that names the setting.
 */
export function readVerifier(
  settings: VerifierSettings,
  names: VerifierNames,
  complain: Complain,
): HubVerifier | undefined {
  const { key, alg, jwksUri } = settings
  if (key !== '' && jwksUri !== '') {
    complain(`${names.key}: set beside ${names.jwksUri}, expected only one of the two`)
    return undefined
  }
  if (jwksUri !== '') return jwksVerifier(settings, names, complain)
  if (key === '') return undefined
  if (isPem(key)) return pemVerifier(settings, names, complain)
  const algorithm = alg === '' ? 'HS256' : alg
  if (isHmac(algorithm)) return { kind: 'secret', secret: key, algorithm }
  complain(`${names.key}: ${algorithm} needs a public key in PEM form, got something else`)
  return undefined
}
