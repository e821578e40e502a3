import type { AuthConfig } from '../../config/index.ts'
import { KeyError, type KeyKind, MIN_RSA_BITS, readPublicPem } from '../../keys/index.ts'
import { acceptedAlgorithms } from './verifier.ts'

/** What a byte sequence that was no UTF-8 turned into on its way through the environment. */
const REPLACEMENT = '\uFFFD'

function secretWarnings(config: AuthConfig): readonly string[] {
  const accepted = [...acceptedAlgorithms(config.algorithm).values()]
  const wanted = accepted.map(({ secretBytes }) => secretBytes ?? 0).filter((bytes) => bytes > 0)
  if (wanted.length === 0) return []
  const { secret } = config
  if (secret === '') {
    return ['JWT_SECRET is empty: HS tokens get 500 "HS secret not configured"']
  }
  const warnings: string[] = []
  const least = Math.min(...wanted)
  const bytes = Buffer.byteLength(secret, 'utf8')
  if (bytes < least) {
    warnings.push(`JWT_SECRET has ${bytes} bytes, it should have ${least} or more random ones`)
  }
  if (secret.trim() !== secret) {
    warnings.push('JWT_SECRET begins or ends with white space, which is part of the key')
  }
  if (secret.includes(REPLACEMENT)) {
    warnings.push('JWT_SECRET holds U+FFFD: the key is UTF-8 text, other bytes were lost')
  }
  return warnings
}

function publicKeyWarnings(config: AuthConfig): readonly string[] {
  if (config.publicKey === '') return []
  const kinds = new Set<KeyKind>()
  for (const { kind } of acceptedAlgorithms(config.algorithm).values()) kinds.add(kind)
  const tail = 'tokens that need it get 500'
  try {
    const { kind } = readPublicPem(config.publicKey)
    if (kinds.has(kind)) return []
    return [`JWT_PUBLIC_KEY holds a key of kind ${kind}, which JWT_ALGORITHM does not use; ${tail}`]
  } catch (error) {
    if (!(error instanceof KeyError)) throw error
    return [`JWT_PUBLIC_KEY: ${error.message}; ${tail}`]
  }
}

function keySetWarnings(config: AuthConfig): readonly string[] {
  const { jwksUrl, publicKey } = config
  if (jwksUrl === '') return []
  if (publicKey !== '') return ['JWT_JWKS_URL is not used: JWT_PUBLIC_KEY is set and wins']
  if (new URL(jwksUrl).protocol !== 'http:') return []
  return ['JWT_JWKS_URL is http: signing keys fetched over cleartext are MITM-forgeable']
}

/**
 * What starts and yet deserves a word at boot: key material that is weak, looks damaged or cannot be used (RSA keys
 * below {@link MIN_RSA_BITS} bits among it). Each line names its variable, never its value. Empty with auth off.
 */
export function authBootWarnings(config: AuthConfig): readonly string[] {
  if (!config.enabled) return []
  return [...secretWarnings(config), ...publicKeyWarnings(config), ...keySetWarnings(config)]
}
