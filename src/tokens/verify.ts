import type { webcrypto } from 'node:crypto'
import { compactVerify, errors } from 'jose'
import type { KeyRequest, VerificationKey } from '../keys/index.ts'
import type { Algorithm } from './algorithms.ts'
import type { DecodedToken } from './decode.ts'
import { TokenError } from './errors.ts'

/** What a token asks of a key source: built from the algorithm's row, so that the token cannot choose the kind. */
export function keyRequest(token: DecodedToken, algorithm: Algorithm): KeyRequest {
  return { kind: algorithm.kind, jwkAlgs: algorithm.jwkAlgs, kid: token.header.kid }
}

/** The row of the token's algorithm, if it is among those allowed. */
export function allowedAlgorithm(
  token: DecodedToken,
  allowed: ReadonlyMap<string, Algorithm>,
): Algorithm {
  const algorithm = allowed.get(token.header.alg)
  if (algorithm === undefined) {
    throw new TokenError('algorithm_not_allowed', 'the algorithm is not among those accepted')
  }
  return algorithm
}

/** HMAC keys in the form that verifies fastest, by hash; jose would import the bytes anew for every token. */
const hmacKeys = new WeakMap<VerificationKey, Map<string, webcrypto.CryptoKey>>()

function hmacKey(key: VerificationKey, hash: string): webcrypto.CryptoKey {
  const byHash = hmacKeys.get(key) ?? new Map<string, webcrypto.CryptoKey>()
  hmacKeys.set(key, byHash)
  const ready = byHash.get(hash) ?? key.key.toCryptoKey({ name: 'HMAC', hash }, false, ['verify'])
  byHash.set(hash, ready)
  return ready
}

async function verifies(
  token: DecodedToken,
  algorithm: Algorithm,
  key: VerificationKey,
): Promise<boolean> {
  try {
    const { name, hash } = algorithm
    const ready = hash === undefined ? key.key : hmacKey(key, hash)
    await compactVerify(token.compact, ready, { algorithms: [name] })
    return true
  } catch (error) {
    if (error instanceof errors.JWSSignatureVerificationFailed) return false
    throw error
  }
}

/**
 * Verifies the signature with the first of the keys that made it, and returns that key.
 * @throws TokenError (`key_unknown` without a key, `signature_invalid` if none made it)
 */
export async function verifySignature(
  token: DecodedToken,
  algorithm: Algorithm,
  keys: readonly VerificationKey[],
): Promise<VerificationKey> {
  if (keys.length === 0) throw new TokenError('key_unknown', 'no key fits the token')
  for (const key of keys) {
    if (await verifies(token, algorithm, key)) return key
  }
  throw new TokenError('signature_invalid', 'no candidate key made the signature')
}
