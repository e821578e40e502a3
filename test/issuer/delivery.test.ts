import type { RequestHandler } from 'express'
import * as jose from 'jose'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  attachSubscriberCookie,
  createSubscriberTokenIssuer,
  subscriberCookie,
  subscriberTokenEndpoint,
} from '../../src/issuer/index.ts'
import { fakeClock, START_S } from '../support/clock.ts'
import { type RunningApp, startApp } from '../support/express-app.ts'
import { ecKey, edKey, HS_SECRET, rsaKey } from '../support/keys.ts'
import { rawRequest } from '../support/raw-request.ts'

const clock = fakeClock()
const currentDate = new Date(START_S * 1000)
const AUDIENCE = 'https://hub.example/.well-known/mercure'
const settings = { issuer: 'https://app.example', audience: AUDIENCE, clock }
const issuer = createSubscriberTokenIssuer({ ...settings, key: HS_SECRET, alg: 'HS256' })
const owners = new Map([
  ['42', 'ada'],
  ['43', 'bob'],
])
let asked: string[] = []

/** Stands for the app's own authentication: the user's name in a header. */
const authenticate: RequestHandler = (req, res, next) => {
  if (req.headers['x-user']) next()
  else res.sendStatus(401)
}
const userOf = (req: { headers: NodeJS.Dict<string | string[]> }) => String(req.headers['x-user'])

let app: RunningApp
beforeAll(async () => {
  app = await startApp((express) => {
    express.use(authenticate)
    express.use(
      subscriberTokenEndpoint({
        path: '/trips/:id/mercure-token',
        topic: ({ id }) => `/trips/${id}`,
        canView: async (req) => {
          const id = String(req.params['id'])
          asked.push(id)
          return owners.get(id) === userOf(req)
        },
        issuer,
        subject: userOf,
      }),
    )
    const everything = { canView: () => true, issuer, subject: userOf }
    express.use(
      subscriberTokenEndpoint({
        ...everything,
        path: '/any/:id/mercure-token',
        topic: ({ id }) => `/trips/${id}`,
      }),
      subscriberTokenEndpoint({
        ...everything,
        path: '/bare/:id/mercure-token',
        topic: ({ id }) => String(id),
      }),
    )
    express.post('/trips', async (req, res) => {
      res.cookie('app', '1')
      await attachSubscriberCookie(res, { topic: '/trips/42', issuer, subject: userOf(req) })
      res.status(201).json({ id: '42' })
    })
    const cookie = subscriberCookie({
      topic: (req) => `/trips/${req.params['id']}`,
      issuer,
      ttlSeconds: 60,
      subject: userOf,
      domain: 'app.example',
    })
    express.get('/trips/:id', cookie, (req, res) => {
      res.json({ id: req.params['id'] })
    })
  })
})
afterAll(() => app.close())

const get = (path: string, user?: string) =>
  fetch(`${app.url}${path}`, user === undefined ? {} : { headers: { 'x-user': user } })

async function verified(token: string) {
  const key = new TextEncoder().encode(HS_SECRET)
  return jose.jwtVerify(token, key, { currentDate, typ: 'at+jwt', audience: AUDIENCE })
}

/** The grant of ADR-056: subscribe on one topic, exactly. */
const grantOn = (topic: string) => [
  {
    type: 'https://mercure.rocks/authorization-detail',
    actions: ['subscribe'],
    topics: [{ match: topic }],
  },
]

describe('body channel (hub checklist 66)', () => {
  it('answers the owner with a token for that topic, one hour, not stored', async () => {
    const answer = await get('/trips/42/mercure-token', 'ada')
    expect([answer.status, answer.headers.get('cache-control')]).toEqual([200, 'no-store'])
    const body = JSON.parse(await answer.text())
    expect(Object.keys(body)).toEqual(['token'])
    const { payload, protectedHeader } = await verified(body.token)
    expect(protectedHeader).toEqual({ alg: 'HS256', typ: 'at+jwt' })
    const { jti, ...claims } = payload
    expect(jti).toMatch(/^urn:uuid:/)
    expect(claims).toEqual({
      iss: 'https://app.example',
      aud: AUDIENCE,
      sub: 'ada',
      client_id: 'https://app.example',
      iat: START_S,
      exp: START_S + 3600,
      authorization_details: grantOn('/trips/42'),
    })
  })

  it('answers a stranger and a missing object with the same bytes, after the same check', async () => {
    const port = Number(new URL(app.url).port)
    const ask = async (id: string) => {
      const target = `/trips/${id}/mercure-token`
      const { headers, body, statusLine } = await rawRequest(port, {
        target,
        headers: ['x-user: ada'],
      })
      return { statusLine, body, headers: headers.filter(([name]) => name !== 'date') }
    }
    asked = []
    const [foreign, missing] = [await ask('43'), await ask('99')]
    expect(foreign).toEqual(missing)
    expect(foreign.statusLine).toBe('HTTP/1.1 404 Not Found')
    expect(foreign.headers.map(([name]) => name)).not.toContain('set-cookie')
    expect(asked).toEqual(['43', '99'])
  })

  it.each([
    ['a control character', '%0A'],
    ['NUL', '%00'],
    ['a direction mark', '%E2%80%AE'],
    ['too long for a topic', 'x'.repeat(5000)],
  ])('an id with %s is 404 also for one who may view everything', async (_what, id) => {
    const answer = await get(`/any/${id}/mercure-token`, 'root')
    expect(answer.status).toBe(404)
    expect(await answer.text()).toBe('{"error":"Not Found"}')
  })

  it('a topic that is the wildcard is 404, never a token for everything', async () => {
    const answer = await get('/bare/*/mercure-token', 'root')
    expect(answer.status).toBe(404)
  })

  it('is behind the authentication of the app', async () => {
    asked = []
    expect((await get('/trips/42/mercure-token')).status).toBe(401)
    expect(asked).toEqual([])
  })

  it('leaves other methods and other paths to the app', async () => {
    const url = `${app.url}/trips/42/mercure-token`
    const headers = { 'x-user': 'ada' }
    expect((await fetch(url, { method: 'POST', headers })).status).toBe(404)
    expect((await fetch(`${url}/`, { headers })).status).toBe(404)
    expect((await fetch(url.replace('trips', 'Trips'), { headers })).status).toBe(404)
  })

  it('two tokens of one grant differ in their jti', async () => {
    const mint = () => issuer.mint({ topic: '/t', subject: 'ada' })
    const [one, two] = await Promise.all([mint(), mint()])
    expect(one).not.toBe(two)
  })
})

describe('cookie channel', () => {
  it('sets the same grant on the response that creates the object, beside its other cookies', async () => {
    const answer = await fetch(`${app.url}/trips`, { method: 'POST', headers: { 'x-user': 'ada' } })
    const [other, cookie = ''] = answer.headers.getSetCookie()
    expect(other).toMatch(/^app=1/)
    const [pair = '', ...attributes] = cookie.split('; ')
    expect(attributes.sort()).toEqual(
      ['HttpOnly', 'Max-Age=3600', 'Path=/.well-known/mercure', 'SameSite=Strict', 'Secure'].sort(),
    )
    expect(pair).toMatch(/^__Secure-mercure_access_token=/)
    const { payload } = await verified(pair.slice(pair.indexOf('=') + 1))
    expect(payload).toMatchObject({ sub: 'ada', authorization_details: grantOn('/trips/42') })
    expect(await answer.text()).not.toContain('ey')
  })

  it('as a middleware takes topic and subject from the request, with lifetime and domain', async () => {
    const answer = await get('/trips/43', 'bob')
    const [cookie = ''] = answer.headers.getSetCookie()
    expect(cookie).toContain('; Max-Age=60')
    expect(cookie).toContain('; Domain=app.example')
    const value = cookie.slice(cookie.indexOf('=') + 1, cookie.indexOf(';'))
    const { payload } = await verified(value)
    expect(payload).toMatchObject({ sub: 'bob', exp: START_S + 60 })
  })
})

describe('subscriber-token issuer', () => {
  it.each([
    ['PS256', rsaKey()],
    ['RS256', rsaKey()],
    ['ES256', ecKey()],
    ['EdDSA', edKey()],
  ] as const)(
    'signs %s with a PEM, a JWK and a key object, and names its kid',
    async (alg, key) => {
      for (const form of [key.privatePem, key.privateJwk(), key.privateKey]) {
        const one = createSubscriberTokenIssuer({ ...settings, key: form, alg, kid: 'app-1' })
        const token = await one.mint({ topic: '/t', subject: 'ada', ttlSeconds: 5 })
        const { protectedHeader } = await jose.jwtVerify(token, key.publicKey, { currentDate })
        expect(protectedHeader).toEqual({ alg, typ: 'at+jwt', kid: 'app-1' })
      }
    },
  )

  it.each<[string, string | object, string]>([
    ['a secret for RS256', HS_SECRET, 'RS256'],
    ['an EC key for RS256', ecKey().privatePem, 'RS256'],
    ['a public key', rsaKey().publicPem, 'RS256'],
    ['an RSA JWK for HS256', rsaKey().privateJwk(), 'HS256'],
    ['an empty secret', '', 'HS256'],
    ['alg none', HS_SECRET, 'none'],
    ['an unknown alg', HS_SECRET, '__proto__'],
  ])('%s is refused when the issuer is made', (_what, key, alg) => {
    // The algorithm comes from configuration, so a wrong one must fail and not only fail to compile.
    const make = () => createSubscriberTokenIssuer({ ...settings, key, alg: alg as 'HS256' })
    expect(make).toThrow(expect.objectContaining({ name: 'KeyError' }))
  })

  it.each(['*', '', 'a\u0000b', 'a\u200Bb', 'x'.repeat(4097)])(
    'topic %j is refused',
    async (topic) => {
      await expect(issuer.mint({ topic, subject: 'ada' })).rejects.toThrow('topic')
    },
  )

  it.each([0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY])(
    'lifetime %d is refused',
    async (ttl) => {
      const grant = { topic: '/t', subject: 'ada', ttlSeconds: ttl }
      await expect(issuer.mint(grant)).rejects.toThrow('ttlSeconds')
    },
  )

  // Callers in plain JavaScript: a numeric user id, an environment variable that is not set.
  it.each(['', 5, null, undefined])('subject %j is refused', async (subject) => {
    const grant = { topic: '/t', subject: subject as string }
    await expect(issuer.mint(grant)).rejects.toThrow('subject must be text')
  })

  it.each(['', undefined])('issuer or audience %j is refused when the issuer is made', (value) => {
    const key = { key: HS_SECRET, alg: 'HS256' } as const
    const wrong = value as string
    expect(() => createSubscriberTokenIssuer({ ...settings, ...key, issuer: wrong })).toThrow(
      'issuer must be text',
    )
    expect(() => createSubscriberTokenIssuer({ ...settings, ...key, audience: wrong })).toThrow(
      'audience must be text',
    )
  })
})
