import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  claim,
  claimsOf,
  decodeToken,
  MAX_TOKEN_BYTES,
  TokenError,
} from '../../src/tokens/index.ts'
import { compactToken, mint, segment, tokenOfSize } from '../support/tokens.ts'

const HEADER = { alg: 'HS256' }

function codeOf(run: () => unknown): string {
  try {
    run()
    return 'none'
  } catch (error) {
    if (error instanceof TokenError) return error.code
    throw error
  }
}

const withHeader = (header: unknown) => `${segment(header)}.${segment({})}.AAAA`
const withPayload = (payload: unknown) => `${segment(HEADER)}.${segment(payload)}.AAAA`

describe('a token that cannot be decoded', () => {
  it.each([
    ['nothing', ''],
    ['one part', 'abc'],
    ['two parts', 'a.b'],
    ['empty parts', '..'],
    ['four parts', `${mint()}.x`],
    ['five parts, as an encrypted token has', 'a.b.c.d.e'],
    ['an empty header', `.${segment({})}.AAAA`],
    ['an empty payload', `${segment(HEADER)}..AAAA`],
    ['truncated JSON', 'eyJ.eyJ.'],
    ['a space in front', ` ${mint()}`],
    ['padding', `${mint()}=`],
    ['plain base64', withPayload('\u00fb\u00ff').replaceAll('_', '/').concat('+')],
    ['a character outside ASCII', mint().replace('.', '.é')],
    ['a signature of one character', `${segment(HEADER)}.${segment({})}.A`],
    ['a header that is a list', withHeader([])],
    ['a header that is null', withHeader(null)],
    ['a header that is text', withHeader('"HS256"')],
    ['a header in invalid UTF-8', withHeader(Buffer.from('{"alg":"\xff"}', 'latin1'))],
    ['a header with a byte order mark', withHeader('\ufeff{"alg":"HS256"}')],
    ['no alg', withHeader({ typ: 'JWT' })],
    ['alg null', withHeader({ alg: null })],
    ['alg in a list', withHeader({ alg: ['HS256'] })],
    ['alg on __proto__', withHeader('{"__proto__":{"alg":"HS256"}}')],
    ['kid that is a number', withHeader({ ...HEADER, kid: 1 })],
    ['kid null', withHeader({ ...HEADER, kid: null })],
    ['crit', withHeader({ ...HEADER, crit: ['exp'], exp: 1 })],
    ['crit, empty', withHeader({ ...HEADER, crit: [] })],
    ['crit, text', withHeader({ ...HEADER, crit: 'x' })],
    ['crit null', withHeader({ ...HEADER, crit: null })],
    ['b64 false', withHeader({ ...HEADER, b64: false })],
    ['enc', withHeader({ ...HEADER, enc: 'A256GCM' })],
    ['a payload that is no JSON', withPayload('hello')],
    ['a payload in invalid UTF-8', withPayload(Buffer.from('{"sub":"\xff"}', 'latin1'))],
    ['more than 32 KiB', tokenOfSize(MAX_TOKEN_BYTES + 1)],
    ['a megabyte', 'a'.repeat(1_000_000)],
  ])('is malformed: %s', (_what, token) => {
    expect(codeOf(() => decodeToken(token))).toBe('token_malformed')
  })

  it('has one spelling only: stray bits at the end of a part are refused', () => {
    const token = compactToken({ header: HEADER, payload: { a: 1 }, alg: 'HS256', key: 'k' })
    const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
    const last = alphabet.indexOf(token.at(-1) ?? '')
    const twin = token.slice(0, -1) + alphabet[last + 1]
    expect(Buffer.from(twin.split('.')[2] ?? '', 'base64url')).toEqual(
      Buffer.from(token.split('.')[2] ?? '', 'base64url'),
    )
    expect(codeOf(() => decodeToken(token))).toBe('none')
    expect(codeOf(() => decodeToken(twin))).toBe('token_malformed')
  })

  it('is the only thing that arbitrary text leads to', () => {
    const part = fc.oneof(fc.string(), fc.json().map(segment), fc.base64String())
    fc.assert(
      fc.property(fc.array(part, { maxLength: 6 }), (parts) => {
        expect(['none', 'token_malformed']).toContain(codeOf(() => decodeToken(parts.join('.'))))
      }),
      { numRuns: 2000 },
    )
  })
})

describe('a token that can be decoded', () => {
  it('gives header and payload, whatever the typ and further members', () => {
    const token = mint({ header: { typ: 'id+jwt', kid: 'k', x: [1] }, claims: { a: { b: 1 } } })
    const { header, payload, compact } = decodeToken(token)
    expect(header).toMatchObject({ alg: 'HS256', kid: 'k', typ: 'id+jwt', x: [1] })
    expect(payload).toMatchObject({ a: { b: 1 }, sub: 'tester' })
    expect(compact).toBe(token)
  })

  it('may have an empty signature: alg is judged first', () => {
    expect(decodeToken(mint({ alg: 'none' })).header.alg).toBe('none')
  })

  it('of 32 KiB passes', () => {
    const token = tokenOfSize(MAX_TOKEN_BYTES - 3)
    expect(token.length).toBeLessThanOrEqual(MAX_TOKEN_BYTES)
    expect(codeOf(() => decodeToken(token))).toBe('none')
  })

  it('keeps deep nesting without failing', () => {
    const deep = `{"a":${'['.repeat(10_000)}${']'.repeat(10_000)}}`
    expect(codeOf(() => decodeToken(withPayload(deep)))).toBe('none')
  })

  it.each(['[]', 'null', '"x"', '5', 'true'])('and whose payload is %s has no claims', (json) => {
    const decoded = decodeToken(withPayload(json))
    expect(codeOf(() => claimsOf(decoded))).toBe('claims_invalid')
  })

  it('gives a claim by its own name only', () => {
    const claims = claimsOf(decodeToken(withPayload({ a: 1 })))
    expect(claim(claims, 'a')).toBe(1)
    for (const name of ['constructor', '__proto__', 'toString', 'b']) {
      expect(claim(claims, name)).toBeUndefined()
    }
  })
})
