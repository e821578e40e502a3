import { createPrivateKey, createSecretKey, type KeyObject } from 'node:crypto'
import { z } from 'zod'
import { cleanPem } from '../config/index.ts'
import { KeyError, type KeyKind, kindOf, rsaWeakness } from './key.ts'

/** A key that can sign: a private key or a shared secret. */
export interface SigningKey {
  readonly kind: KeyKind
  readonly key: KeyObject
  /** What a JWK states; absent for PEM and secrets. */
  readonly kid?: string
  readonly alg?: string
}

/**
 * A shared secret for HMAC: the UTF-8 bytes of the text.
 * @throws KeyError (`secret_missing`) for an empty one
 */
export function readSecret(secret: string): SigningKey {
  if (secret === '') throw new KeyError('secret_missing', 'the secret is empty', 'secret')
  return { kind: 'secret', key: createSecretKey(secret, 'utf8') }
}

function checked(key: KeyObject): SigningKey {
  const kind = kindOf(key)
  if (kind === undefined) {
    const type = key.asymmetricKeyType ?? 'unknown'
    throw new KeyError('key_unusable', `a key of type ${type} cannot be used`)
  }
  const weakness = kind === 'rsa' ? rsaWeakness(key) : undefined
  if (weakness !== undefined) throw new KeyError('key_unusable', weakness, kind)
  return { kind, key }
}

/**
 * Reads a private key as PEM (PKCS#8, PKCS#1 or SEC 1, not encrypted).
 * @throws KeyError (`key_unusable`) for anything else; the message never repeats the text
 */
export function readPrivatePem(text: string): SigningKey {
  let key: KeyObject
  try {
    key = createPrivateKey(cleanPem(text))
  } catch {
    throw new KeyError('key_unusable', 'the text is not a private key in PEM form')
  }
  return checked(key)
}

const privateJwk = z.looseObject({
  kty: z.string(),
  kid: z.string().min(1).optional(),
  alg: z.string().min(1).optional(),
})

/**
 * Reads a private JWK (RSA, EC or OKP/Ed25519), or an `oct` one as a secret.
 * @throws KeyError (`key_unusable`) for anything else, a public key included
 */
export function readPrivateJwk(jwk: unknown): SigningKey {
  const parsed = privateJwk.safeParse(jwk)
  if (!parsed.success) throw new KeyError('key_unusable', 'the value is not a JWK')
  const { kid, alg } = parsed.data
  const names = {
    ...(kid === undefined ? {} : { kid }),
    ...(alg === undefined ? {} : { alg }),
  }
  if (parsed.data.kty === 'oct') {
    const { k } = parsed.data
    if (typeof k !== 'string' || k === '') {
      throw new KeyError('key_unusable', 'an oct JWK needs the member k', 'secret')
    }
    return { kind: 'secret', key: createSecretKey(k, 'base64url'), ...names }
  }
  let key: KeyObject
  try {
    key = createPrivateKey({ format: 'jwk', key: parsed.data })
  } catch {
    throw new KeyError('key_unusable', 'the JWK is not a private key')
  }
  return { ...checked(key), ...names }
}
