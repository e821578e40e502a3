import { generateKeyPairSync } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { cleanPem, holdsPrivateKey, KeyError, readPublicPem } from '../../src/keys/index.ts'
import { certificatePem, ecKey, edKey, PEM_SPELLINGS, pkcs1Pem, rsaKey } from '../support/keys.ts'

function refusal(text: string): KeyError {
  try {
    readPublicPem(text)
  } catch (error) {
    if (error instanceof KeyError) return error
    throw error
  }
  throw new Error('the text was taken')
}

describe('a public key as PEM', () => {
  it.each([
    ['SPKI, RSA', rsaKey().publicPem, 'rsa'],
    ['PKCS#1', pkcs1Pem(rsaKey()), 'rsa'],
    ['a certificate, RSA', certificatePem(rsaKey()), 'rsa'],
    ['SPKI, Ed25519', edKey().publicPem, 'ed25519'],
    ['SPKI, P-256', ecKey().publicPem, 'ec-p256'],
    ['SPKI, P-384', ecKey('p384', 'P-384').publicPem, 'ec-p384'],
    ['SPKI, P-521', ecKey('p521', 'P-521').publicPem, 'ec-p521'],
  ])('is taken as %s', (_form, pem, kind) => {
    expect(readPublicPem(pem).kind).toBe(kind)
  })

  it.each([
    'escapedLineFeeds',
    'carriageReturns',
    'edgeBlanks',
    'quoted',
    'commentInFront',
  ] as const)('survives the environment: %s', (spelling) => {
    const damaged = PEM_SPELLINGS[spelling](rsaKey().publicPem)
    expect(readPublicPem(damaged).key.equals(rsaKey().publicKey)).toBe(true)
  })

  it('survives indented lines and escaped CRLF', () => {
    const pem = rsaKey().publicPem
    expect(readPublicPem(pem.replaceAll('\n', '\n    ')).kind).toBe('rsa')
    expect(readPublicPem(pem.replaceAll('\n', '\\r\\n')).kind).toBe('rsa')
  })

  it.each([
    ['empty text', ''],
    ['other text', 'ssh-rsa AAAA'],
    ['a PEM on one line', PEM_SPELLINGS.oneLine(rsaKey().publicPem)],
    ['base64 of a PEM', PEM_SPELLINGS.base64(rsaKey().publicPem)],
    ['half a PEM', rsaKey().publicPem.slice(0, 200)],
    ['an Ed448 key', spki(generateKeyPairSync('ed448').publicKey)],
    ['a secp256k1 key', spki(generateKeyPairSync('ec', { namedCurve: 'secp256k1' }).publicKey)],
    ['an RSA key of 1024 bits', rsaKey('weak', 1024).publicPem],
  ])('is refused: %s', (_what, text) => {
    expect(refusal(text).code).toBe('key_unusable')
  })

  it('a private key is never taken, not even beside a public one', () => {
    const { privatePem, publicPem, privateKey } = rsaKey()
    const pkcs1 = privateKey.export({ type: 'pkcs1', format: 'pem' }).toString()
    for (const text of [privatePem, pkcs1, publicPem + privatePem, edKey().privatePem]) {
      expect(refusal(text).message).toContain('private')
      expect(holdsPrivateKey(text)).toBe(true)
    }
    expect(holdsPrivateKey(publicPem)).toBe(false)
  })

  it('a refusal never repeats the text', () => {
    const marker = 'bWFya2VyLW9mLXRoZS10ZXN0'
    const { message, cause } = refusal(
      `-----BEGIN PUBLIC KEY-----\n${marker}\n-----END PUBLIC KEY-----`,
    )
    expect(`${message} ${String(cause)}`).not.toContain(marker)
  })
})

function spki(key: ReturnType<typeof generateKeyPairSync>['publicKey']): string {
  return key.export({ type: 'spki', format: 'pem' }).toString()
}

it('the clean-up keeps text that needs none', () => {
  const pem = rsaKey().publicPem.trim()
  expect(cleanPem(pem)).toBe(pem)
})
