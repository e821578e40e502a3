import { createPublicKey, type KeyObject, X509Certificate } from 'node:crypto'
import { KeyError, kindOf, rsaWeakness, type VerificationKey } from './key.ts'

const PRIVATE_LABEL = /-----BEGIN [A-Z0-9 ]*PRIVATE KEY-----/
const CERTIFICATE_LABEL = /-----BEGIN (?:TRUSTED |X509 )?CERTIFICATE-----/

/**
 * The one clean-up of PEM text that came through an environment variable: edge blanks and one pair of quotes around
 * the whole are dropped, `\n` and `\r` written as two characters become line breaks, CRLF becomes LF.
 * Nothing else is repaired.
 */
export function cleanPem(text: string): string {
  const trimmed = text.trim()
  const unquoted = /^(["'])(.*)\1$/s.exec(trimmed)?.[2] ?? trimmed
  return unquoted
    .replaceAll('\\r', '')
    .replaceAll('\\n', '\n')
    .replace(/\r\n?/g, '\n')
    .split('\n')
    .map((line) => line.trim())
    .join('\n')
}

/** Whether a text holds the private half of a key. */
export function holdsPrivateKey(text: string): boolean {
  return PRIVATE_LABEL.test(cleanPem(text))
}

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
  if (PRIVATE_LABEL.test(pem)) {
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
