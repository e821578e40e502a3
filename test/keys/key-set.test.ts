import { describe, expect, it } from 'vitest'
import {
  chooseKeys,
  type KeyKind,
  type KeyRequest,
  readJwk,
  readJwkSet,
} from '../../src/keys/index.ts'
import { ecKey, edKey, rsaKey } from '../support/keys.ts'

const QUEUE: readonly KeyKind[] = ['rsa', 'ed25519']
const HUB: readonly KeyKind[] = ['rsa', 'ed25519', 'ec-p256', 'ec-p384', 'ec-p521']
const RSA = rsaKey()
const ED = edKey()
const UNNAMED = { kid: undefined }

describe('an entry of a key set', () => {
  it('is read if it is RSA or Ed25519, for the hub also EC', () => {
    expect(readJwk(RSA.jwk(), QUEUE)?.kind).toBe('rsa')
    expect(readJwk(ED.jwk(), QUEUE)?.kind).toBe('ed25519')
    expect(readJwk(ecKey().jwk(), QUEUE)).toBeUndefined()
    expect(readJwk(ecKey().jwk(), HUB)?.kind).toBe('ec-p256')
  })

  it.each([
    ['null', null],
    ['a list', []],
    ['text', 'RSA'],
    ['another type', { kty: 'AKP', alg: 'ML-DSA-44', pub: 'AA' }],
    ['a secret', { kty: 'oct', k: 'AAAA' }],
    ['use enc', RSA.jwk({ use: 'enc' })],
    ['an unknown use', RSA.jwk({ use: 'sign' })],
    ['key_ops without verify', RSA.jwk({ key_ops: ['encrypt'] })],
    ['a private RSA key', RSA.privateJwk()],
    ['a private Ed25519 key', ED.privateJwk()],
    ['no modulus', RSA.jwk({ n: undefined })],
    ['a modulus with padding', RSA.jwk({ n: `${String(RSA.jwk()['n'])}=` })],
    ['1024 bits', rsaKey('weak', 1024).jwk()],
    ['exponent 1', RSA.jwk({ e: 'AQ' })],
    ['X25519', ED.jwk({ crv: 'X25519' })],
    ['Ed448', ED.jwk({ crv: 'Ed448' })],
    ['31 bytes', ED.jwk({ x: 'A'.repeat(42) })],
    ['a kid of another type', RSA.jwk({ kid: 7 })],
    ['a point off the curve', ecKey().jwk({ x: 'A'.repeat(43) })],
  ])('is skipped: %s', (_what, entry) => {
    expect(readJwk(entry, HUB)).toBeUndefined()
  })

  it('with an empty kid is unnamed', () => {
    expect(readJwk(RSA.jwk({ kid: '' }), QUEUE)?.kid).toBeUndefined()
  })
})

describe('a key set', () => {
  it('keeps document order and counts identical entries once', () => {
    const set = readJwkSet([ED.jwk(), 5, RSA.jwk(), ED.jwk()], QUEUE)
    expect(set.keys.map(({ kind }) => kind)).toEqual(['ed25519', 'rsa'])
  })

  it('has a fingerprint that follows keys, names, algorithms and order, and nothing else', () => {
    const print = (...keys: unknown[]) => readJwkSet(keys, QUEUE).fingerprint
    const same = print(RSA.jwk(), ED.jwk())
    expect(print(RSA.jwk({ x5t: 'zz' }), 'junk', ED.jwk())).toBe(same)
    for (const other of [
      print(ED.jwk(), RSA.jwk()),
      print(RSA.jwk()),
      print(RSA.jwk({ kid: 'other' }), ED.jwk()),
      print(RSA.jwk({ alg: 'RS512' }), ED.jwk()),
      print(rsaKey('b').jwk({ kid: RSA.kid }), ED.jwk()),
    ]) {
      expect(other).not.toBe(same)
    }
  })
})

describe('the keys to try for a token', () => {
  const A = rsaKey('a')
  const B = rsaKey('b')
  const rs256 = (kid?: string): KeyRequest => ({ kind: 'rsa', jwkAlgs: ['RS256'], kid })
  const choose = (keys: readonly unknown[], request: KeyRequest, choice: 'queue' | 'hub') =>
    chooseKeys(readJwkSet(keys, HUB).keys, request, choice).map(({ key, kid }) =>
      [A, B].find(({ publicKey }) => publicKey.equals(key))?.kid.concat(kid ? '' : '?'),
    )

  it('with a kid are those of that name', () => {
    for (const choice of ['queue', 'hub'] as const) {
      expect(choose([A.jwk(), B.jwk()], rs256('b'), choice)).toEqual(['b'])
    }
  })

  it('with a kid that names none: the first unnamed one on the queue, none on the hub', () => {
    const keys = [A.jwk(), B.jwk(UNNAMED), A.jwk(UNNAMED)]
    expect(choose(keys, rs256('z'), 'queue')).toEqual(['b?'])
    expect(choose(keys, rs256('z'), 'hub')).toEqual([])
  })

  it('without a kid: the first that fits on the queue, each on the hub', () => {
    for (const kid of [undefined, '']) {
      expect(choose([ED.jwk(), A.jwk(), B.jwk()], rs256(kid), 'queue')).toEqual(['a'])
      expect(choose([ED.jwk(), A.jwk(), B.jwk()], rs256(kid), 'hub')).toEqual(['a', 'b'])
    }
  })

  it('of two keys with one name both, in document order', () => {
    const twins = [B.jwk({ kid: 'x' }), A.jwk({ kid: 'x' })]
    expect(choose(twins, rs256('x'), 'queue')).toEqual(['b', 'a'])
  })

  it('never one whose alg is another than the token’s', () => {
    expect(choose([A.jwk({ alg: 'RS512' }), B.jwk({ alg: 'RS256' })], rs256(), 'hub')).toEqual([
      'b',
    ])
    expect(choose([A.jwk({ alg: 'PS256' })], rs256('a'), 'queue')).toEqual([])
  })
})
