import { afterAll, expect, it } from 'vitest'
import { createPubsubVerifier, type PubsubVerifier } from '../../src/pubsub.ts'
import { fakeClock } from '../support/clock.ts'
import { ecKey, edKey } from '../support/keys.ts'
import { mint } from '../support/tokens.ts'
import { type IssuerApp, invokeMint, partsOf, SERVICE_KEY, startIssuer } from './issuer-app.ts'

const TTL_S = 600
/** The documented time within which every verifier has seen a change. */
const SYNC_MS = 60_000

const OLD = JSON.stringify(ecKey('old-kid').privateJwk({ alg: 'ES256' }))
const NEW = JSON.stringify(edKey('new-kid').privateJwk({ alg: 'EdDSA' }))

const clock = fakeClock()
const env = (jwk: string) => ({ PUBSUB_JWT_PRIVATE_JWK: jwk, PUBSUB_TOKEN_TTL_SEC: String(TTL_S) })
let app: IssuerApp
afterAll(() => app.close())

interface Live {
  readonly token: string
  readonly kid: unknown
  readonly expMs: number
}

/** Mints through the endpoint and verifies every token that is still valid, in every kind of verifier. */
class Traffic {
  readonly live: Live[] = []
  verifiers: readonly PubsubVerifier[] = []
  refused = 0
  verified = 0

  async turn(): Promise<void> {
    const { status, body } = await invokeMint(app.client(SERVICE_KEY), { herd_ids: ['a'] })
    expect(status).toBe(200)
    const token = String(body['token'])
    const [header] = partsOf(token)
    this.live.push({ token, kid: header?.['kid'], expMs: Number(body['expires_at']) * 1000 })
    const valid = this.live.filter(({ expMs }) => expMs > clock.now())
    const checks = valid.flatMap((one) =>
      this.verifiers.map((verifier) => verifier.verify(one.token)),
    )
    for (const { status: outcome } of await Promise.allSettled(checks)) {
      if (outcome === 'fulfilled') this.verified += 1
      else this.refused += 1
    }
  }

  /** Lets `ms` pass in ten steps, with traffic at each. */
  async pass(ms: number): Promise<void> {
    for (let step = 0; step < 10; step += 1) {
      clock.advance(ms / 10)
      await this.turn()
    }
  }
}

const registryVerifier = () =>
  createPubsubVerifier({ keys: { registry: app.issuer.registry }, clock })

it('no valid token is refused through the whole documented order, and then the old kid is', async () => {
  app = await startIssuer({ env: env(OLD), clock })
  const traffic = new Traffic()
  // A verifier elsewhere knows an address only; a restart here takes a new port, so it is made anew then.
  const remote = () => createPubsubVerifier({ keys: { baseUrl: `${app.url}/pubsub/keys` }, clock })
  let elsewhere = remote()
  traffic.verifiers = [registryVerifier(), elsewhere]
  await traffic.pass(60_000)

  // 1. upsert the new public key
  const upserted = await app.client(SERVICE_KEY).rpc('upsert_pubsub_jwt_public_key', {
    kid: 'new-kid',
    jwk: edKey('new-kid').jwk({ alg: 'EdDSA' }),
  })
  expect(upserted.error).toBeNull()
  // 2. verifiers sync
  await traffic.pass(SYNC_MS)
  // 3. switch the private JWK: the environment changes, so the process restarts on its data
  await app.stop()
  app = await startIssuer({ env: env(NEW), clock, dataDir: app.dataDir })
  elsewhere.close()
  elsewhere = remote()
  traffic.verifiers = [registryVerifier(), elsewhere]
  // 4. wait one TTL
  await traffic.pass(TTL_S * 1000)
  const kids = new Set(traffic.live.map((one) => one.kid))
  expect(kids).toEqual(new Set(['old-kid', 'new-kid']))
  expect(traffic.refused).toBe(0)
  expect(traffic.verified).toBeGreaterThan(200)

  // 5. revoke the old kid: tokens of the new one go on
  const lastOld = traffic.live.findLast((one) => one.kid === 'old-kid')
  const revoked = await app
    .client(SERVICE_KEY)
    .rpc('revoke_pubsub_jwt_public_key', { kid: 'old-kid' })
  expect(revoked.error).toBeNull()
  await traffic.pass(SYNC_MS)
  expect(traffic.refused).toBe(0)

  // Even with the clock back in its lifetime, a token of the old kid is refused: here at once, elsewhere too.
  clock.set((lastOld?.expMs ?? 0) - 1000)
  const here = registryVerifier().verify(lastOld?.token ?? '')
  await expect(here).rejects.toMatchObject({ code: 'key_unknown' })
  const far = remote()
  await expect(far.verify(lastOld?.token ?? '')).rejects.toMatchObject({ code: 'key_unknown' })
  far.close()
  elsewhere.close()
})

it('a kid revoked too early is refused at once here, and within 60 s elsewhere', async () => {
  const jwk = ecKey('early').jwk({ alg: 'ES256' })
  await app.client(SERVICE_KEY).rpc('upsert_pubsub_jwt_public_key', { kid: 'early', jwk })
  const exp = clock.now() / 1000 + 3600
  const token = mint({
    alg: 'ES256',
    key: ecKey('early').privateKey,
    header: { kid: 'early' },
    claims: { root: '', put: ['a'], exp },
  })
  const here = registryVerifier()
  const elsewhere = createPubsubVerifier({ keys: { baseUrl: `${app.url}/pubsub/keys` }, clock })
  await here.verify(token)
  await elsewhere.verify(token)
  await app.client(SERVICE_KEY).rpc('revoke_pubsub_jwt_public_key', { kid: 'early' })
  await expect(here.verify(token)).rejects.toMatchObject({ code: 'key_unknown' })
  await elsewhere.verify(token)
  clock.advance(SYNC_MS)
  await expect(elsewhere.verify(token)).rejects.toMatchObject({ code: 'key_unknown' })
  elsewhere.close()
})
