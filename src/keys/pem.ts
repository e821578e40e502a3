import { createPublicKey, type KeyObject, X509Certificate } from 'node:crypto'
import { cleanPem, holdsPrivateKey } from '../config/index.ts'
import { KeyError, kindOf, rsaWeakness, type VerificationKey } from './key.ts'

const CERTIFICATE_LABEL = /-----BEGIN (?:TRUSTED |X509 )?CERTIFICATE-----/

function parsePublic(pem: string): KeyObject {
  try {
    return CERTIFICATE_LABEL.test(pem) ? new X509Certificate(pem).publicKey : createPublicKey(pem)
  } catch {
    // The parser's own error is not kept as the cause: it may quote the text.
    throw new KeyError('key_unusable', 'the text is not a public key in PEM form')
  }
}

/**
 * Reads one public key: SPKI (`BEGIN PUBLIC KEY`), PKCS#1 (`BEGIN RSA PUBLIC KEY`) or an X.509 certificate.
 * @throws KeyError (`key_unusable`) for other text, a private key, an unsupported kind or an RSA key that is too weak
 */
export function readPublicPem(text: string): VerificationKey {
  const pem = cleanPem(text)
  if (holdsPrivateKey(text)) {
    // Node would derive the public half in silence; a private key in a verifier's settings is a leak to be noticed.
    throw new KeyError('key_unusable', 'the text holds a private key, only a public key is taken')
  }
  const key = parsePublic(pem)
  const kind = kindOf(key)
  if (kind === undefined) {
    const type = key.asymmetricKeyType ?? 'unknown'
    throw new KeyError('key_unusable', `a key of type ${type} cannot be used`)
  }
  const weakness = kind === 'rsa' ? rsaWeakness(key) : undefined
  if (weakness !== undefined) throw new KeyError('key_unusable', weakness, kind)
  return { kind, key }
}
