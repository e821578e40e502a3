import { generate, load, loadPublic, sign, verify } from '@moq/token'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createPubsubVerifier } from '../../src/pubsub.ts'
import { type IssuerApp, invokeMint, SERVICE_KEY, startIssuer } from './issuer-app.ts'

const ALGS = ['RS256', 'PS256', 'ES256', 'ES384', 'EdDSA'] as const

describe.each(ALGS)('@moq/token with %s', (alg) => {
  let app: IssuerApp
  let text: string
  beforeAll(async () => {
    text = JSON.stringify(await generate(alg, `moq-${alg}`))
    app = await startIssuer({ env: { PUBSUB_JWT_PRIVATE_JWK: text } })
  })
  afterAll(() => app.close())

  const served = async () => (await fetch(`${app.url}/pubsub/keys/moq-${alg}.jwk`)).text()
  const registry = () => createPubsubVerifier({ keys: { registry: app.issuer.registry } })

  it('verifies a token minted here with the public JWK served here', async () => {
    const { body } = await invokeMint(app.client(SERVICE_KEY), { herd_ids: ['north', 'a/b'] })
    const claims = await verify(loadPublic(await served()), String(body['token']), '')
    const { expires_at: exp } = body
    expect(claims).toMatchObject({ root: '', put: ['north', 'a/b'], get: [], exp })
    expect(Number(claims.exp) - Number(claims.iat)).toBe(3600)
  })

  it('signs tokens that are accepted here by registry, by address and by fixed JWK', async () => {
    const exp = Math.floor(Date.now() / 1000) + 60
    const token = await sign(load(text), { root: 'demo', put: 'cam', get: ['cam', 'chat'], exp })
    const byAddress = createPubsubVerifier({ keys: { baseUrl: `${app.url}/pubsub/keys` } })
    const byJwk = createPubsubVerifier({ keys: { jwk: JSON.parse(await served()) } })
    for (const verifier of [registry(), byAddress, byJwk]) {
      const claims = await verifier.verify(token)
      expect(claims).toMatchObject({ root: 'demo', put: ['cam'], get: ['cam', 'chat'], exp })
      expect(verifier.allows(claims, 'put', '/demo/cam/1')).toBe(true)
      expect(verifier.allows(claims, 'put', '/demo/chat')).toBe(false)
      verifier.close()
    }
  })

  it('signs tokens with a key that is registered later, and they are accepted from then on', async () => {
    const later = await generate(alg, 'later')
    const token = await sign(later, { root: '', get: [''] })
    await expect(registry().verify(token)).rejects.toMatchObject({ code: 'key_unknown' })
    const { d, p, q, dp, dq, qi, ...half } = JSON.parse(JSON.stringify(later))
    const jwk = { ...half, key_ops: ['verify'] }
    const { error } = await app
      .client(SERVICE_KEY)
      .rpc('upsert_pubsub_jwt_public_key', { kid: 'later', jwk })
    expect(error).toBeNull()
    expect(await registry().verify(token)).toMatchObject({ root: '', put: [], get: [''] })
  })

  it('refuses a token of this key under another path, and here it is a matter of claims', async () => {
    const { body } = await invokeMint(app.client(SERVICE_KEY), { herd_ids: ['north'] })
    const wrong = verify(loadPublic(await served()), String(body['token']), 'elsewhere')
    await expect(wrong).rejects.toThrow('path')
  })
})
