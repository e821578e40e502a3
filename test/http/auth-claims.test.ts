import { describe, expect, it } from 'vitest'
import { START_S } from '../support/clock.ts'
import { type GuardedApp, guardedApp } from '../support/guarded-app.ts'
import { HS_SECRET } from '../support/keys.ts'
import { compactToken, mint } from '../support/tokens.ts'

const OK = [200, undefined]
const EXPIRED = [401, 'Token has expired']
const EARLY = [401, 'Token not yet valid']
const FUTURE = [401, 'Token issued in the future']
const BAD_CLAIMS = [401, 'Invalid token claims']
const BARE = { exp: undefined, iat: undefined }

async function verdict(app: GuardedApp, token: string) {
  const { status, body } = await app.ask('/api/v1/pop', { token })
  return [status, (body as { error?: string }).error]
}

function withClaims(claims: Record<string, unknown>) {
  return mint({ claims: { ...BARE, ...claims } })
}

describe.each([0, 5, 30, 86_400])('JWT_CLOCK_SKEW=%i', (skew) => {
  const env = { JWT_CLOCK_SKEW: String(skew) }

  it('exp passes at exp + skew exactly and is refused 1 ms later, cached or not', async () => {
    for (const warm of [true, false]) {
      const app = await guardedApp(env)
      const token = withClaims({ exp: START_S })
      if (warm) expect(await verdict(app, token)).toEqual(OK)
      app.clock.set((START_S + skew) * 1000)
      expect(await verdict(app, token)).toEqual(OK)
      app.clock.advance(1)
      expect(await verdict(app, token)).toEqual(EXPIRED)
      expect(await verdict(app, token)).toEqual(EXPIRED)
    }
  })

  it('nbf is refused until 1 ms before now + skew reaches it, and passes from then', async () => {
    const app = await guardedApp(env)
    const nbf = START_S + 100_000
    const token = withClaims({ nbf })
    app.clock.set((nbf - skew) * 1000 - 1)
    expect(await verdict(app, token)).toEqual(EARLY)
    app.clock.advance(1)
    expect(await verdict(app, token)).toEqual(OK)
    app.clock.advance(-1)
    expect(await verdict(app, token)).toEqual(EARLY)
  })

  it('iat is refused when it is over now + skew, and passes when equal', async () => {
    const app = await guardedApp(env)
    const iat = START_S + 100_000
    const token = withClaims({ iat })
    app.clock.set((iat - skew) * 1000 - 1)
    expect(await verdict(app, token)).toEqual(FUTURE)
    app.clock.advance(1)
    expect(await verdict(app, token)).toEqual(OK)
    app.clock.advance(-1)
    expect(await verdict(app, token)).toEqual(FUTURE)
  })
})

describe('temporal claims', () => {
  it('the default skew is 30 seconds', async () => {
    const app = await guardedApp()
    const token = withClaims({ exp: START_S })
    app.clock.advance(30_000)
    expect(await verdict(app, token)).toEqual(OK)
    app.clock.advance(1)
    expect(await verdict(app, token)).toEqual(EXPIRED)
  })

  it('JWT_CLOCK_SKEW=5 forgives 3 s on each claim and refuses 7 s', async () => {
    const app = await guardedApp({ JWT_CLOCK_SKEW: '5' })
    expect(await verdict(app, withClaims({ exp: START_S - 3 }))).toEqual(OK)
    expect(await verdict(app, withClaims({ nbf: START_S + 3 }))).toEqual(OK)
    expect(await verdict(app, withClaims({ iat: START_S + 3 }))).toEqual(OK)
    expect(await verdict(app, withClaims({ exp: START_S - 7 }))).toEqual(EXPIRED)
    expect(await verdict(app, withClaims({ nbf: START_S + 7 }))).toEqual(EARLY)
    expect(await verdict(app, withClaims({ iat: START_S + 7 }))).toEqual(FUTURE)
    expect(await verdict(app, withClaims({ iat: START_S + 3600 }))).toEqual(FUTURE)
  })

  it('a token with no exp never expires, and none of the three claims is required', async () => {
    const app = await guardedApp()
    const token = withClaims({})
    expect(await verdict(app, token)).toEqual(OK)
    app.clock.advance(100 * 365 * 86_400_000)
    expect(await verdict(app, token)).toEqual(OK)
  })

  it('fractional dates are honoured to the fraction, also on a cached token', async () => {
    const app = await guardedApp({ JWT_CLOCK_SKEW: '0' })
    const token = withClaims({ exp: START_S + 0.5, iat: START_S - 0.25, nbf: START_S - 0.75 })
    expect(await verdict(app, token)).toEqual(OK)
    app.clock.advance(500)
    expect(await verdict(app, token)).toEqual(OK)
    app.clock.advance(1)
    expect(await verdict(app, token)).toEqual(EXPIRED)
    app.clock.set(START_S * 1000 - 251)
    expect(await verdict(app, token)).toEqual(FUTURE)
    app.clock.set(START_S * 1000 - 250)
    expect(await verdict(app, token)).toEqual(OK)
  })

  it.each([0, -1, -5e15, 1e-9])('exp %d, long ago, has expired', async (exp) => {
    expect(await verdict(await guardedApp(), withClaims({ exp }))).toEqual(EXPIRED)
  })

  it.each(['exp', 'nbf', 'iat'])(
    'a %s of the wrong JSON type is 401 Invalid token claims',
    async (name) => {
      const app = await guardedApp()
      const values: readonly unknown[] = [
        '123',
        '',
        'x',
        true,
        false,
        null,
        [],
        [START_S],
        {},
        { valueOf: 1 },
      ]
      for (const value of values) {
        expect(await verdict(app, withClaims({ [name]: value }))).toEqual(BAD_CLAIMS)
      }
    },
  )

  it.each(['1e999', '-1e999'])(
    'a number beyond the range (%s) never means "never expires"',
    async (n) => {
      const app = await guardedApp()
      for (const name of ['exp', 'nbf', 'iat']) {
        const payload = `{"role":"admin","${name}":${n}}`
        const token = compactToken({
          header: { alg: 'HS256' },
          payload,
          alg: 'HS256',
          key: HS_SECRET,
        })
        const [status] = await verdict(app, token)
        expect(status).toBe(401)
      }
    },
  )
})

describe('the payload as a whole', () => {
  it.each(['[]', 'null', '5', '"text"', 'true', '[{"role":"admin"}]'])(
    'a signed payload %s, no JSON object, is 401 Invalid token claims',
    async (payload) => {
      const header = { alg: 'HS256' }
      const token = compactToken({ header, payload, alg: 'HS256', key: HS_SECRET })
      expect(await verdict(await guardedApp(), token)).toEqual(BAD_CLAIMS)
    },
  )

  it.each([
    ['empty', ''],
    ['cut off', '{"role":"admin"'],
    ['no JSON', 'role=admin'],
    ['invalid UTF-8', Buffer.from([0x7b, 0x22, 0xff, 0xfe, 0x22, 0x3a, 0x31, 0x7d])],
    ['UTF-16', Buffer.from('{"role":"admin"}', 'utf16le')],
  ])('a signed payload that is %s is a 401, never a 500', async (_what, payload) => {
    const header = { alg: 'HS256' }
    const token = compactToken({ header, payload, alg: 'HS256', key: HS_SECRET })
    const [status, error] = await verdict(await guardedApp(), token)
    expect(status).toBe(401)
    expect(['Bad token header', 'Invalid token claims']).toContain(error)
  })

  it.each([[5], [true], [null], [[]], [{}], [['a']]])(
    'sub %j is 401 Invalid token claims',
    async (sub) => {
      expect(await verdict(await guardedApp(), withClaims({ sub }))).toEqual(BAD_CLAIMS)
    },
  )

  it('sub is optional, and is handed on as it stands', async () => {
    const app = await guardedApp()
    const without = await app.ask('/x', { token: withClaims({ sub: undefined }) })
    expect(without.status).toBe(200)
    expect(without.body).not.toHaveProperty('auth.sub')
    const token = withClaims({ sub: ' ü/🐝 ' })
    expect((await app.ask('/x', { token })).body).toHaveProperty('auth.sub', ' ü/🐝 ')
  })

  it('the token type plays no part', async () => {
    const app = await guardedApp()
    for (const typ of ['at+jwt', 'JWT', 'id+jwt', undefined, 7]) {
      expect(await verdict(app, mint({ header: { typ } }))).toEqual(OK)
    }
  })
})
