import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { brokerAuth, loadAuthConfig } from '../../src/auth.ts'
import { fakeClock } from '../support/clock.ts'
import { type RunningApp, startApp } from '../support/express-app.ts'
import { jwtEnvironment, send } from '../support/guarded-app.ts'
import { HS_SECRET, rsaKey } from '../support/keys.ts'
import { rawRequest } from '../support/raw-request.ts'
import { compactToken, mint } from '../support/tokens.ts'

let app: RunningApp
let reached = 0
beforeAll(async () => {
  const env = { JWT_ALGORITHM: 'auto', JWT_PUBLIC_KEY: rsaKey().publicPem }
  const config = loadAuthConfig(jwtEnvironment(env))
  app = await startApp((express) => {
    express.use(brokerAuth(config, { clock: fakeClock(), logger: false }))
    express.use((_req, res) => {
      reached += 1
      res.json({})
    })
  })
})
afterAll(() => app.close())

/** Sends the credential as it is and tells the status. */
async function status(authorization: string): Promise<number> {
  const headers = [`Authorization: ${authorization}`]
  return (await rawRequest(app.port, { target: '/api/v1/pop', headers })).status
}

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
const character = fc.constantFrom(...ALPHABET, '.', '=', '+', '/', ' ', '%', '"', 'é')
const place = fc.double({ min: 0, max: 0.9999, noNaN: true })

const mutation: fc.Arbitrary<(token: string) => string> = fc.oneof(
  fc.tuple(place, character).map(([at, put]) => (token: string) => {
    const index = Math.floor(at * token.length)
    return token.slice(0, index) + put + token.slice(index + 1)
  }),
  fc.tuple(place, character).map(([at, put]) => (token: string) => {
    const index = Math.floor(at * token.length)
    return token.slice(0, index) + put + token.slice(index)
  }),
  place.map((at) => (token: string) => {
    const index = Math.floor(at * token.length)
    return token.slice(0, index) + token.slice(index + 1)
  }),
  place.map((at) => (token: string) => token.slice(0, Math.floor(at * token.length))),
  fc.constantFrom(
    (token: string) => token.split('.').toReversed().join('.'),
    (token: string) => `${token}.`,
    (token: string) => token.toLowerCase(),
    (token: string) => token.replace('.', '..'),
    (token: string) => token.replaceAll('.', '%2e'),
    (token: string) => `${token}${token}`,
  ),
)

const tokens = ['HS256', 'HS512', 'RS256'].map((alg) => mint({ alg }))

describe('a token that was changed in any place', () => {
  it('never passes and is never a 500', async () => {
    const property = fc.asyncProperty(
      fc.constantFrom(...tokens),
      fc.array(mutation, { minLength: 1, maxLength: 3 }),
      async (token, mutations) => {
        const changed = mutations.reduce((text, mutate) => mutate(text), token)
        // White space around a token is no part of it.
        fc.pre(changed.trim() !== token)
        const before = reached
        expect(await status(`Bearer ${changed}`)).toBe(401)
        expect(reached).toBe(before)
      },
    )
    await fc.assert(property, { numRuns: 500 })
  })

  it('any other text as credential never passes and is never a 500', async () => {
    const text = fc.string({
      unit: fc.integer({ min: 0x20, max: 0xff }).map((code) => String.fromCharCode(code)),
      maxLength: 200,
    })
    const property = fc.asyncProperty(text, async (credential) => {
      fc.pre(!credential.includes('\u007f'))
      expect(await status(credential)).toBe(401)
    })
    await fc.assert(property, { numRuns: 200 })
  })
})

describe('a token of the right key with any content', () => {
  const json = fc.jsonValue({ maxDepth: 3 })
  const names = fc.constantFrom('exp', 'nbf', 'iat', 'iss', 'aud', 'sub', 'role', 'roles', 'jti')
  const headerNames = fc.constantFrom(
    'alg',
    'kid',
    'typ',
    'crit',
    'b64',
    'enc',
    'jku',
    'x5c',
    'zip',
  )

  it('any payload that holds no role is a 401 or 403', async () => {
    const payloads = fc.oneof(json, fc.dictionary(names, json), fc.dictionary(fc.string(), json))
    const property = fc.asyncProperty(payloads, async (payload) => {
      const content = JSON.stringify(payload)
      const token = compactToken({
        header: { alg: 'HS256' },
        payload: content,
        alg: 'HS256',
        key: HS_SECRET,
      })
      fc.pre(token.length < 30_000)
      const answer = await send(`${app.url}/api/v1/pop`, { token })
      expect([401, 403]).toContain(answer.status)
    })
    await fc.assert(property, { numRuns: 300 })
  })

  it('any header is 200 or 401, and passes only if it names the algorithm that signed', async () => {
    const headers = fc.oneof(
      json,
      fc.dictionary(headerNames, json),
      fc.dictionary(headerNames, json).map((header) => ({ ...header, alg: 'HS256' })),
    )
    const property = fc.asyncProperty(headers, async (header) => {
      const token = compactToken({
        header: JSON.stringify(header),
        payload: { role: 'admin' },
        alg: 'HS256',
        key: HS_SECRET,
      })
      fc.pre(token.length < 30_000)
      const answer = await send(`${app.url}/api/v1/pop`, { token })
      expect([200, 401]).toContain(answer.status)
      if (answer.status === 200) expect(header).toHaveProperty('alg', 'HS256')
    })
    await fc.assert(property, { numRuns: 300 })
  })
})
