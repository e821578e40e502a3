import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  checkAudience,
  checkIssuer,
  checkTimes,
  readTimes,
  subjectOf,
  TokenError,
} from '../../src/tokens/index.ts'

const NOW_S = 1_800_000_000

function codeOf(run: () => unknown): string {
  try {
    run()
    return 'ok'
  } catch (error) {
    if (error instanceof TokenError) return error.code
    throw error
  }
}

describe('temporal claims', () => {
  const judge = (claims: Record<string, unknown>, skewS = 30, nowS = NOW_S) =>
    codeOf(() => checkTimes(readTimes(claims), { skewS }, nowS))

  it.each([
    [{ exp: NOW_S - 30 }, 'ok'],
    [{ exp: NOW_S - 30.001 }, 'token_expired'],
    [{ nbf: NOW_S + 30 }, 'ok'],
    [{ nbf: NOW_S + 30.001 }, 'token_not_active'],
    [{ iat: NOW_S + 30 }, 'ok'],
    [{ iat: NOW_S + 30.001 }, 'token_from_future'],
    [{}, 'ok'],
    [{ exp: 0 }, 'token_expired'],
    [{ exp: -1 }, 'token_expired'],
    [{ exp: 1e300 }, 'ok'],
    [{ exp: NOW_S + 0.5, iat: NOW_S - 0.25 }, 'ok'],
    [{ exp: 1, nbf: NOW_S + 99, iat: NOW_S + 99 }, 'token_expired'],
    [{ nbf: NOW_S + 99, iat: NOW_S + 99 }, 'token_not_active'],
  ])('%j is %s at a skew of 30 s', (claims, code) => {
    expect(judge(claims)).toBe(code)
  })

  it('the clock counts with its fraction', () => {
    expect(judge({ exp: NOW_S }, 0, NOW_S)).toBe('ok')
    expect(judge({ exp: NOW_S }, 0, NOW_S + 0.001)).toBe('token_expired')
  })

  it.each(['exp', 'nbf', 'iat'])('%s of another type, or not finite, is claims_invalid', (name) => {
    const overflow: unknown = JSON.parse('1e999')
    for (const value of ['123', null, true, [], {}, '', Number.NaN, overflow]) {
      expect(judge({ [name]: value })).toBe('claims_invalid')
    }
  })

  it('may be required, may expire at the very moment, and iat may be left out', () => {
    const rule = { skewS: 0, requireExp: true, expiredAtExp: true }
    const names = ['exp', 'nbf'] as const
    const hub = (claims: Record<string, unknown>) =>
      codeOf(() => checkTimes(readTimes(claims, names), rule, NOW_S))
    expect(hub({})).toBe('claims_invalid')
    expect(hub({ exp: NOW_S })).toBe('token_expired')
    expect(hub({ exp: NOW_S + 1, nbf: NOW_S, iat: 'x' })).toBe('ok')
  })

  it('never pass outside [nbf - skew, exp + skew]', () => {
    const second = fc.double({ min: -1e6, max: 1e6, noNaN: true })
    const skew = fc.integer({ min: 0, max: 86_400 })
    fc.assert(
      fc.property(second, second, skew, (exp, nbf, skewS) => {
        const passes = judge({ exp: NOW_S + exp, nbf: NOW_S + nbf }, skewS) === 'ok'
        const [expAt, nbfAt] = [NOW_S + exp, NOW_S + nbf]
        expect(passes).toBe(NOW_S <= expAt + skewS && NOW_S + skewS >= nbfAt)
      }),
    )
  })
})

describe('iss', () => {
  it.each([
    ['https://idp', 'ok'],
    ['https://idp/', 'issuer_invalid'],
    ['HTTPS://idp', 'issuer_invalid'],
    ['', 'issuer_invalid'],
    [undefined, 'issuer_invalid'],
    [['https://idp'], 'claims_invalid'],
    [null, 'claims_invalid'],
    [5, 'claims_invalid'],
  ])('%j against https://idp is %s', (iss, code) => {
    expect(codeOf(() => checkIssuer(iss === undefined ? {} : { iss }, 'https://idp'))).toBe(code)
  })

  it('a refusal names both values, quoted and cut', () => {
    const run = () => checkIssuer({ iss: 'x'.repeat(9999) }, 'https://idp')
    expect(run).toThrow('wanted "https://idp"')
    expect(run).not.toThrow(/x{300}/)
  })
})

describe('aud', () => {
  it.each([
    ['queue', 'ok'],
    [['a', 'queue'], 'ok'],
    ['queue2', 'audience_invalid'],
    ['a queue', 'audience_invalid'],
    [[], 'audience_invalid'],
    [undefined, 'audience_invalid'],
    [5, 'claims_invalid'],
    [null, 'claims_invalid'],
    [{ 0: 'queue' }, 'claims_invalid'],
    [['queue', 5], 'claims_invalid'],
    [[['queue']], 'claims_invalid'],
  ])('%j against queue is %s', (aud, code) => {
    expect(codeOf(() => checkAudience(aud === undefined ? {} : { aud }, 'queue'))).toBe(code)
  })
})

describe('sub', () => {
  it('is a string or absent', () => {
    expect(subjectOf({ sub: 'a' })).toBe('a')
    expect(subjectOf({ sub: '' })).toBe('')
    expect(subjectOf({})).toBeUndefined()
    for (const sub of [5, null, ['a'], {}]) {
      expect(codeOf(() => subjectOf({ sub }))).toBe('claims_invalid')
    }
  })
})
