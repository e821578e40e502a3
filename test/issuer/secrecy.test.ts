import { generate, load, sign } from '@moq/token'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openApiDocument } from '../../src/http/openapi.ts'
import { ISSUER_OPERATIONS } from '../../src/issuer/index.ts'
import { createPubsubVerifier } from '../../src/pubsub.ts'
import { ecKey, edKey, HS_SECRET, type Jwk, rsaKey } from '../support/keys.ts'
import { storedBytes } from '../support/test-store.ts'
import { ANON_KEY, type IssuerApp, SERVICE_KEY, session, startIssuer } from './issuer-app.ts'

const PRIVATE_MEMBERS = ['d', 'p', 'q', 'dp', 'dq', 'qi']
const KEYS: readonly (readonly [string, Jwk])[] = [
  ['RS256', rsaKey('quiet-rs').privateJwk({ alg: 'RS256' })],
  ['ES256', ecKey('quiet-es').privateJwk({ alg: 'ES256' })],
  ['EdDSA', edKey('quiet-ed').privateJwk({ alg: 'EdDSA' })],
]

/** Every private member of a JWK, as the text in which it would leak. */
function secretsOf(jwk: Jwk): readonly string[] {
  return PRIVATE_MEMBERS.map((name) => jwk[name]).filter((value) => typeof value === 'string')
}

describe.each(KEYS)('private key material of an %s key', (_alg, jwk) => {
  let app: IssuerApp
  const answers: string[] = []
  let deviceKey: string
  let sessionToken: string
  let minted: string

  const ask = async (
    method: string,
    path: string,
    headers: Record<string, string>,
    body?: unknown,
  ) => {
    const answer = await fetch(`${app.url}${path}`, {
      method,
      headers,
      ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    })
    const text = await answer.text()
    answers.push(`${JSON.stringify([...answer.headers])}\n${text}`)
    return text
  }

  beforeAll(async () => {
    app = await startIssuer({ env: { PUBSUB_JWT_PRIVATE_JWK: JSON.stringify(jwk) } })
    deviceKey = (await app.device('north')).api_key
    sessionToken = session('ada')
    const kid = String(jwk['kid'])
    const mint = '/functions/v1/mint-pubsub-token'
    const rpc = '/rest/v1/rpc'
    minted = JSON.parse(await ask('POST', mint, { 'x-api-key': deviceKey })).token
    await ask('POST', mint, { authorization: `Bearer ${sessionToken}`, apikey: ANON_KEY })
    await ask('POST', mint, { authorization: `Bearer ${sessionToken.slice(0, -2)}` })
    await ask('POST', mint, { apikey: SERVICE_KEY }, '{')
    await ask('POST', mint, { apikey: `${SERVICE_KEY}x` })
    // A caller who sends the private key by mistake must not find it stored, echoed or logged.
    await ask('POST', `${rpc}/upsert_pubsub_jwt_public_key`, { apikey: SERVICE_KEY }, { kid, jwk })
    await ask(
      'POST',
      `${rpc}/upsert_pubsub_jwt_public_key`,
      { apikey: SERVICE_KEY },
      {
        kid: JSON.stringify(jwk),
        jwk,
      },
    )
    await ask('POST', `${rpc}/get_pubsub_jwt_public_keys`, {})
    await ask('GET', `/pubsub/keys/${kid}.jwk`, {})
    await ask('GET', '/pubsub/keys/jwks.json', {})
    await ask('GET', `/pubsub/keys/${encodeURIComponent(JSON.stringify(jwk))}.jwk`, {})
    await ask('POST', `${rpc}/revoke_pubsub_jwt_public_key`, { apikey: SERVICE_KEY }, { kid })
    await ask('POST', mint, { apikey: SERVICE_KEY }, { herd_ids: ['a'] })
    await app.stop()
  })
  afterAll(async () => {
    const again = await startIssuer({ dataDir: app.dataDir })
    await again.close()
  })

  it('never appears in an answer', () => {
    for (const secret of secretsOf(jwk)) expect(answers.join('\n')).not.toContain(secret)
    expect(answers.join('\n')).not.toMatch(/"(d|p|q|dp|dq|qi|k|oth)":/)
  })

  it('never appears in the log, nor does a token, an api key or a secret', () => {
    const log = app.log()
    expect(log).toContain('session token refused')
    const signatures = [minted, sessionToken].map((token) => token.split('.')[2] ?? '')
    const hidden = [...secretsOf(jwk), ...signatures, deviceKey, SERVICE_KEY, HS_SECRET]
    for (const secret of hidden) expect(log).not.toContain(secret)
  })

  it('never appears in the database, nor does a device’s api key', async () => {
    const bytes = (await storedBytes(app.dataDir)).toString('latin1')
    expect(bytes).toContain(String(jwk['kid']))
    for (const secret of [...secretsOf(jwk), deviceKey, SERVICE_KEY]) {
      expect(bytes).not.toContain(secret)
    }
  })
})

describe('the API document', () => {
  it('names no private member of a key', () => {
    const rows = ISSUER_OPERATIONS.map(({ method, path }) => ({
      method,
      path,
      level: 'public',
      summary: '',
    }))
    const info = { title: 't', version: '1', description: 'd' }
    const text = JSON.stringify(openApiDocument(info, rows, ISSUER_OPERATIONS))
    expect(text).toContain('mint-pubsub-token')
    expect(text).not.toMatch(/"(d|p|q|dp|dq|qi|oth)":\{/)
    expect(text).not.toContain('PRIVATE KEY')
  })
})

describe('a refused pub/sub token', () => {
  it('is named in the log by its reason alone', async () => {
    const lines: unknown[] = []
    const line = (...all: unknown[]) => void lines.push(all)
    const key = await generate('EdDSA', 'stranger')
    const token = await sign(load(JSON.stringify(key)), { root: '', put: ['secret-herd'] })
    const verifier = createPubsubVerifier({
      keys: { jwk: edKey('known').jwk({ alg: 'EdDSA' }) },
      log: { debug: line, info: line, warn: line, error: line },
    })
    await expect(verifier.verify(token)).rejects.toThrow()
    expect(lines).toEqual([[{ reason: 'key_unknown' }, 'pub/sub token refused']])
  })
})
