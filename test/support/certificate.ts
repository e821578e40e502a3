import { type KeyObject, randomBytes, sign } from 'node:crypto'

/**
 * A small X.509 writer (RFC 5280 §4.1), so that tests need no openssl: self-signed certificates for
 * `JWT_PUBLIC_KEY` and for an https key server with a private authority.
 */

function der(tag: number, ...parts: readonly Buffer[]): Buffer {
  const body = Buffer.concat(parts)
  if (body.length < 0x80) return Buffer.concat([Buffer.from([tag, body.length]), body])
  const length = Buffer.from(body.length.toString(16).padStart(4, '0'), 'hex')
  return Buffer.concat([Buffer.from([tag, 0x80 | length.length]), length, body])
}

const sequence = (...parts: readonly Buffer[]) => der(0x30, ...parts)
const set = (...parts: readonly Buffer[]) => der(0x31, ...parts)
const oid = (hex: string) => der(0x06, Buffer.from(hex, 'hex'))
const utf8 = (text: string) => der(0x0c, Buffer.from(text, 'utf8'))
const boolean = (value: boolean) => der(0x01, Buffer.from([value ? 0xff : 0]))

const COMMON_NAME = oid('550403')
const BASIC_CONSTRAINTS = oid('551d13')
const SUBJECT_ALT_NAME = oid('551d11')
const RSA_SHA256 = sequence(oid('2a864886f70d01010b'), der(0x05))
const ED25519 = sequence(oid('2b6570'))

function time(date: Date): Buffer {
  const digits = date.toISOString().replace(/[-:T]/g, '').slice(0, 14)
  return der(0x18, Buffer.from(`${digits}Z`, 'latin1'))
}

function extensions(): Buffer {
  const names = sequence(
    der(0x82, Buffer.from('localhost')),
    der(0x87, Buffer.from([127, 0, 0, 1])),
  )
  return der(
    0xa3,
    sequence(
      sequence(BASIC_CONSTRAINTS, boolean(true), der(0x04, sequence(boolean(true)))),
      sequence(SUBJECT_ALT_NAME, der(0x04, names)),
    ),
  )
}

/** A self-signed certificate (PEM) for 127.0.0.1 and localhost over an RSA or Ed25519 key pair. */
export function selfSignedCertificate(privateKey: KeyObject, publicKey: KeyObject): string {
  const rsa = privateKey.asymmetricKeyType === 'rsa'
  const algorithm = rsa ? RSA_SHA256 : ED25519
  const name = sequence(set(sequence(COMMON_NAME, utf8('hivegate test authority'))))
  const serial = Buffer.concat([Buffer.from([0x01]), randomBytes(8)])
  const body = sequence(
    der(0xa0, der(0x02, Buffer.from([2]))),
    der(0x02, serial),
    algorithm,
    name,
    sequence(time(new Date('2020-01-01')), time(new Date('2090-01-01'))),
    name,
    publicKey.export({ format: 'der', type: 'spki' }),
    extensions(),
  )
  const signature = sign(rsa ? 'sha256' : null, body, privateKey)
  const certificate = sequence(body, algorithm, der(0x03, Buffer.from([0]), signature))
  const lines = certificate.toString('base64').match(/.{1,64}/g) ?? []
  return `-----BEGIN CERTIFICATE-----\n${lines.join('\n')}\n-----END CERTIFICATE-----\n`
}
