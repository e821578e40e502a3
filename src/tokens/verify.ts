import { createHmac, timingSafeEqual } from 'node:crypto'
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

/**
 * Checks an HMAC (RFC 7518 §3.2) in place. Only public keys go through jose: Web Crypto hands each call to a worker
 * thread, which costs some fifty times the MAC itself and would be most of what a request with a secret costs.
 */
function macMatches({ compact }: DecodedToken, hash: string, { key }: VerificationKey): boolean {
  const end = compact.lastIndexOf('.')
  const wanted = createHmac(hash, key).update(compact.slice(0, end)).digest()
  const given = Buffer.from(compact.slice(end + 1), 'base64url')
  return given.length === wanted.length && timingSafeEqual(given, wanted)
}

async function verifies(
  token: DecodedToken,
  { name, hash }: Algorithm,
  key: VerificationKey,
): Promise<boolean> {
  if (hash !== undefined) return macMatches(token, hash, key)
  try {
    await compactVerify(token.compact, key.key, { algorithms: [name] })
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
