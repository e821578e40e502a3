import { describe, expect, it } from 'vitest'
import { guardedApp } from '../support/guarded-app.ts'
import { HS_SECRET } from '../support/keys.ts'
import { rawRequest } from '../support/raw-request.ts'
import { compactToken, mint, segment, tokenOfSize } from '../support/tokens.ts'

const REQUIRED = '{"error":"Authentication required"}'
const BAD_HEADER = '{"error":"Bad token header"}'
const good = mint()

/** A text for a test's name, and the whole text. */
const shown = (text: string) => [text.slice(0, 40), text] as const

async function withHeaders(...headers: readonly string[]) {
  const app = await guardedApp()
  const answer = await rawRequest(app.port, { target: '/api/v1/pop', headers })
  expect(app.reached.length).toBe(answer.status === 200 ? 1 : 0)
  return answer
}

describe('the Authorization header', () => {
  it.each(['Bearer ', 'bearer ', 'BEARER ', 'bEaReR ', 'Bearer   ', 'Bearer\t', ''])(
    'takes the token after %j',
    async (prefix) => {
      expect((await withHeaders(`Authorization: ${prefix}${good}`)).status).toBe(200)
    },
  )

  it('has a name in any case, and blanks around its value do no harm', async () => {
    expect((await withHeaders(`authorization: Bearer ${good}`)).status).toBe(200)
    expect((await withHeaders(`AUTHORIZATION:\t Bearer ${good}\t `)).status).toBe(200)
    expect((await withHeaders(`Authorization:Bearer ${good}`)).status).toBe(200)
  })

  it('absent or blank is 401 Authentication required with a bare challenge', async () => {
    for (const headers of [[], ['Authorization:'], ['Authorization:   '], ['Authorization: \t ']]) {
      const answer = await withHeaders(...headers)
      expect([answer.status, answer.body]).toEqual([401, REQUIRED])
      expect(answer.header('www-authenticate')).toBe('Bearer')
    }
  })

  it.each(
    [
      'Basic dXNlcjpwYXNz',
      'Digest username="x"',
      'Negotiate abc',
      'DPoP x',
      `Basic ${good}`,
      `Token ${good}`,
      `JWT ${good}`,
      `Bearer: ${good}`,
      `Bearer=${good}`,
      `Bearer,${good}`,
      `Bearer${good}`,
      `Bearer Bearer ${good}`,
      `Bearer ${good} ${good}`,
      `Bearer ${good},${good}`,
      `Bearer ${good}, Basic x`,
      `Basic x, Bearer ${good}`,
      `"${good}"`,
      `Bearer "${good}"`,
      `Bearer <${good}>`,
      `${good} Bearer`,
      `Bearer token=${good}`,
    ].map(shown),
  )(
    'another scheme or junk around the token is 401 Bad token header (%#): %s',
    async (_shown, value) => {
      const answer = await withHeaders(`Authorization: ${value}`)
      expect([answer.status, answer.body]).toEqual([401, BAD_HEADER])
      expect(answer.header('www-authenticate')).toBe('Bearer error="invalid_token"')
    },
  )

  it('the bare word Bearer is a 401 and never passes', async () => {
    for (const value of ['Bearer', 'bearer', 'Bearer  ', 'Bearer undefined', 'Bearer null']) {
      expect((await withHeaders(`Authorization: ${value}`)).status).toBe(401)
    }
  })

  it('sent twice is 401 Bad token header, whatever the two hold and however they are spelled', async () => {
    const bearer = `Bearer ${good}`
    for (const pair of [
      [`Authorization: ${bearer}`, `Authorization: ${bearer}`],
      [`Authorization: ${bearer}`, `authorization: ${bearer}`],
      [`Authorization: ${bearer}`, 'Authorization: Basic x'],
      ['Authorization: Basic x', `Authorization: ${bearer}`],
      [`Authorization: ${bearer}`, 'Authorization:'],
      ['Authorization:', `Authorization: ${bearer}`],
    ]) {
      const answer = await withHeaders(...pair)
      expect([answer.status, answer.body]).toEqual([401, BAD_HEADER])
    }
  })
})

describe('a token that is not a decodable JWT is 401 Bad token header', () => {
  const [header = '', payload = '', tail = ''] = good.split('.')
  const rows: readonly string[] = [
    'x',
    '.',
    '..',
    '...',
    'a.b',
    'a.b.c',
    'eyJ.eyJ.',
    'undefined',
    '[object Object]',
    `${header}`,
    `${header}.${payload}`,
    `${header}.${payload}.${tail}.${tail}`,
    `${header}.${payload}.${tail}.`,
    `.${payload}.${tail}`,
    `${header}..${tail}`.replace(header, ''),
    `${header}=.${payload}.${tail}`,
    `*${header.slice(1)}.${payload}.${tail}`,
    `${header.slice(0, -1)}.${payload}.${tail}`,
    `${segment('null')}.${payload}.${tail}`,
    `${segment('[]')}.${payload}.${tail}`,
    `${segment('"HS256"')}.${payload}.${tail}`,
    `${segment('5')}.${payload}.${tail}`,
    `${segment('{"alg":"HS256"')}.${payload}.${tail}`,
    `${segment('{}')}.${payload}.${tail}`,
    `${segment(Buffer.from([0xff, 0xfe]))}.${payload}.${tail}`,
    'a'.repeat(16_000),
    '.'.repeat(16_000),
    `${'a.'.repeat(4000)}a`,
  ]

  it.each(rows.map(shown))('(%#) %s', async (_shown, token) => {
    const answer = await withHeaders(`Authorization: Bearer ${token}`)
    expect([answer.status, answer.body]).toEqual([401, BAD_HEADER])
  })

  it.each([
    ['crit with an unknown name', { crit: ['x'], x: 1 }],
    ['crit with a known name', { crit: ['exp'], exp: 1 }],
    ['an empty crit', { crit: [] }],
    ['crit as text', { crit: 'x' }],
    ['crit null', { crit: null }],
    ['b64 false', { b64: false }],
    ['b64 false with crit', { b64: false, crit: ['b64'] }],
  ])('%s', async (_what, extra) => {
    const answer = await withHeaders(`Authorization: Bearer ${mint({ header: extra })}`)
    expect([answer.status, answer.body]).toEqual([401, BAD_HEADER])
  })

  it('an encrypted token', async () => {
    const jwe = [segment({ alg: 'dir', enc: 'A256GCM' }), '', 'aaaa', 'aaaa', 'aaaa'].join('.')
    const answer = await withHeaders(`Authorization: Bearer ${jwe}`)
    expect([answer.status, answer.body]).toEqual([401, BAD_HEADER])
  })

  it('a JSON-serialised token', async () => {
    const json = JSON.stringify({ protected: header, payload, signature: tail })
    const answer = await withHeaders(`Authorization: Bearer ${json}`)
    expect([answer.status, answer.body]).toEqual([401, BAD_HEADER])
  })
})

describe('a token whose signature part is not the signature', () => {
  const [header = '', payload = '', tail = ''] = good.split('.')

  it.each([
    ['absent', `${header}.${payload}.`],
    ['cut short', `${header}.${payload}.${tail.slice(0, -4)}`],
    ['longer', `${header}.${payload}.${tail}AAAA`],
    ['another', `${header}.${payload}.${'A'.repeat(tail.length)}`],
    ['of another payload', `${header}.${segment({ role: 'admin' })}.${tail}`],
    ['in padded base64', `${header}.${payload}.${tail}=`],
    ['with blanks', `${header}.${payload}.${tail.slice(0, 4)}%20${tail.slice(4)}`],
  ])('%s: a 401, and the handler does not run', async (_what, token) => {
    const answer = await withHeaders(`Authorization: Bearer ${token}`)
    expect(answer.status).toBe(401)
    expect([BAD_HEADER, '{"error":"Invalid token signature"}']).toContain(answer.body)
  })

  it('a second header member of one name does not change which algorithm is used', async () => {
    const twice = '{"alg":"none","alg":"HS256"}'
    const token = compactToken({ header: twice, payload: '{}', alg: 'none', key: HS_SECRET })
    expect((await withHeaders(`Authorization: Bearer ${token}`)).status).toBe(401)
  })
})

describe('the size of a token', () => {
  it.each([7, 15, 17, 31])('%i KiB passes', async (kib) => {
    const token = tokenOfSize(kib * 1024)
    expect((await withHeaders(`Authorization: Bearer ${token}`)).status).toBe(200)
  })

  it('exactly 32 KiB passes, and over 32 KiB is 401 Bad token header', async () => {
    const limit = 32 * 1024
    const sizes = Array.from({ length: 8 }, (_, i) => tokenOfSize(limit - 4 + i))
    for (const token of sizes) {
      const answer = await withHeaders(`Authorization: Bearer ${token}`)
      if (token.length <= limit) expect(answer.status).toBe(200)
      else expect([answer.status, answer.body]).toEqual([401, BAD_HEADER])
    }
    const huge = await withHeaders(`Authorization: Bearer ${tokenOfSize(33 * 1024)}`)
    expect([huge.status, huge.body]).toEqual([401, BAD_HEADER])
  })

  it('1 MB never reaches the gate: 431', async () => {
    expect((await withHeaders(`Authorization: Bearer ${'a'.repeat(1_000_000)}`)).status).toBe(431)
  })
})
