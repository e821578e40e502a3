import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { startTestBroker, type TestBroker } from '../support/broker.ts'
import { openBrowser } from '../support/browser.ts'
import { type RunningApp, startApp } from '../support/express-app.ts'
import { ecKey, HS_SECRET } from '../support/keys.ts'
import { SERVICE_KEY, session } from './issuer-app.ts'

/** The client library as browsers load it. */
const LIBRARY = readFileSync(
  createRequire(import.meta.url).resolve('@supabase/supabase-js/dist/umd/supabase.js'),
)

let broker: TestBroker
let app: RunningApp
let browser: Browser
beforeAll(async () => {
  broker = await startTestBroker({
    PUBSUB_JWT_PRIVATE_JWK: JSON.stringify(ecKey('web-1').privateJwk({ alg: 'ES256' })),
    PUBSUB_SERVICE_ROLE_KEY: SERVICE_KEY,
    PUBSUB_SESSION_JWT_SECRET: HS_SECRET,
  })
  // The app's own origin: every call to the broker is cross-origin.
  app = await startApp((express) => {
    express.get('/', (_req, res) => {
      res.type('html').send('<!doctype html><script src="/supabase.js"></script>')
    })
    express.get('/supabase.js', (_req, res) => {
      res.type('js').send(LIBRARY)
    })
  })
  browser = await openBrowser()
}, 120_000)
afterAll(async () => {
  await browser?.close()
  await app?.close()
  await broker?.stop()
})

it('@supabase/supabase-js works from a browser on another origin: mint, functions, device header', async () => {
  await broker.call('POST /api/v1/system/pubsub/herds', { json: { id: 'north' } })
  const grant = '/api/v1/system/pubsub/users/ada/herds/north/realtime_streams.read'
  await broker.call(`PUT ${grant}`)
  const device = await broker.call('POST /api/v1/system/pubsub/devices', {
    json: { herd_id: 'north', name: 'cam' },
  })
  const page = await browser.newPage()
  await page.goto(app.url)
  const settings = { url: broker.url, session: session('ada'), apiKey: device.body.api_key }
  const seen = await page.evaluate(`(async ({ url, session, apiKey }) => {
    const { createClient } = supabase
    const user = createClient(url, 'anon', { accessToken: async () => session })
    const camera = createClient(url, 'anon', { global: { headers: { 'x-api-key': apiKey } } })
    const nobody = createClient(url, 'anon')
    const minted = await user.functions.invoke('mint-pubsub-token')
    const claims = await user.rpc('get_pubsub_token_claims')
    const keys = await nobody.rpc('get_pubsub_jwt_public_keys')
    const jwk = await fetch(url + '/pubsub/keys/' + keys.data[0].kid + '.jwk')
    const filmed = await camera.functions.invoke('mint-pubsub-token')
    const refused = await nobody.functions.invoke('mint-pubsub-token')
    return {
      minted: minted.data.claims,
      claims: claims.data,
      kid: (await jwk.json()).kid,
      filmed: filmed.data.claims,
      refused: refused.response.status,
      body: await refused.response.json(),
    }
  })(${JSON.stringify(settings)})`)
  expect(seen).toEqual({
    minted: { root: '', put: [], get: ['north'] },
    claims: { root: '', put: [], get: ['north'] },
    kid: 'web-1',
    filmed: { root: '', put: ['north'], get: ['north'] },
    refused: 401,
    body: { error: 'Invalid credential' },
  })
}, 120_000)
