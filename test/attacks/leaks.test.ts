import { describe, expect, it } from 'vitest'
import { capturedLog } from '../support/captured-log.ts'
import { START_S } from '../support/clock.ts'
import { closeAfterTest, type GuardedApp, guardedApp } from '../support/guarded-app.ts'
import { keysAnswer, resetAnswer, startJwksServer, statusAnswer } from '../support/jwks-server.ts'
import { edKey, HS_SECRET, rsaKey } from '../support/keys.ts'
import { mint, roleToken, withBrokenSignature } from '../support/tokens.ts'

const signer = rsaKey('leaky')
const SUBJECT = 'subject-zq7-of-the-token'

const rs = (options: Parameters<typeof mint>[0] = {}) =>
  mint({ alg: 'RS256', key: signer.privateKey, header: { kid: 'leaky' }, ...options })

/** One token for each kind of refusal, and good ones. */
const TOKENS: readonly string[] = [
  mint({ claims: { sub: SUBJECT } }),
  rs({ claims: { sub: SUBJECT } }),
  roleToken('write-only'),
  withBrokenSignature(mint({ claims: { sub: SUBJECT } })),
  withBrokenSignature(rs()),
  mint({ claims: { exp: START_S - 3600, sub: SUBJECT } }),
  mint({ claims: { nbf: START_S + 3600 } }),
  mint({ claims: { iat: START_S + 3600 } }),
  mint({ claims: { exp: 'soon' } }),
  mint({ claims: { iss: 'them' } }),
  mint({ claims: { aud: 'them' } }),
  mint({ alg: 'ES256' }),
  mint({ alg: 'none' }),
  mint({ header: { crit: ['x'] } }),
  rs({ header: { kid: 'stranger' } }),
  mint({ alg: 'EdDSA' }),
  `${mint()}.${mint()}`,
]

/** The parts of what was sent that must not come out again. */
function secretsOf(token: string): readonly string[] {
  const [header = '', payload = '', signature = ''] = token.split('.')
  return [token, `${header}.${payload}`, payload, signature].filter((part) => part.length > 20)
}

function secretMembers(): readonly string[] {
  const { d, p, q, dp, dq, qi } = signer.privateJwk() as Record<string, string>
  const ed = edKey().privateJwk() as Record<string, string>
  const lines = signer.privatePem.split('\n').filter((line) => line.length > 40)
  return [HS_SECRET, d, p, q, dp, dq, qi, ed['d'], ...lines].filter((part) => part !== undefined)
}

async function askAll(app: GuardedApp): Promise<string> {
  let answers = ''
  for (const token of TOKENS) {
    for (const scheme of ['Bearer ', '', 'Basic ']) {
      for (const path of ['/api/v1/system/x', '/api/v1/push', `/x?access_token=${token}`]) {
        const headers = { authorization: `${scheme}${token}`, cookie: `session=${token}` }
        const { status, body, headers: answered } = await app.ask(path, { headers })
        // What the handler shows of a good token is the test's own doing.
        if (status === 200) continue
        answers += JSON.stringify([status, body, [...answered]])
      }
    }
  }
  return answers
}

/** Environments that between them take every path of the gate. */
async function environments(): Promise<readonly Record<string, string>[]> {
  // A careless identity provider publishes private members; they are secrets all the same.
  const careless = await startJwksServer([signer.privateJwk(), edKey().privateJwk()])
  const broken = await startJwksServer([signer.jwk()])
  broken.answer(statusAnswer(500))
  const shapeless = await startJwksServer()
  shapeless.answer((req, res) => keysAnswer([], { note: HS_SECRET })(req, res))
  for (const server of [careless, broken, shapeless]) closeAfterTest(server.stop)
  const auto = { JWT_ALGORITHM: 'auto' }
  return [
    { JWT_ISSUER: 'us', JWT_AUDIENCE: 'us' },
    { ...auto, JWT_JWKS_URL: careless.url },
    { ...auto, JWT_JWKS_URL: broken.url },
    { ...auto, JWT_JWKS_URL: shapeless.url },
    { ...auto, JWT_PUBLIC_KEY: signer.publicPem },
    { ...auto, JWT_PUBLIC_KEY: signer.privatePem, JWT_SECRET: '' },
    { ...auto, JWT_PUBLIC_KEY: edKey().privatePem },
    { ...auto, JWT_PUBLIC_KEY: `${HS_SECRET}-as-a-pem` },
    { JWT_SECRET: `${HS_SECRET}\n` },
  ]
}

describe('with log level debug', () => {
  it('no secret, token part or private member is in any log line or refusal', async () => {
    let checked = 0
    for (const env of await environments()) {
      const log = capturedLog('trace')
      const app = await guardedApp(env, { logger: log.logger })
      const said = (await askAll(app)) + log.text()
      for (const secret of [...secretMembers(), ...TOKENS.flatMap(secretsOf)]) {
        if (said.includes(secret)) throw new Error(`leaked ${secret} under ${Object.keys(env)}`)
      }
      expect(said).not.toContain(SUBJECT)
      expect(said).not.toMatch(/-----BEGIN|node:internal|\.ts:[0-9]+|node_modules/)
      checked += log.lines().length
    }
    expect(checked).toBeGreaterThan(50)
  })

  it('a password or a key in the URL of the key set is in no log line and no answer', async () => {
    const server = await startJwksServer([])
    closeAfterTest(server.stop)
    const secretUrl = server.url.replace('://', '://user-zq7:pass-zq7@').concat('?api_key=key-zq7')
    for (const answer of [keysAnswer([signer.jwk()]), statusAnswer(500), resetAnswer]) {
      server.answer(answer)
      const log = capturedLog('trace')
      const env = { JWT_ALGORITHM: 'auto', JWT_JWKS_URL: secretUrl }
      const app = await guardedApp(env, { logger: log.logger })
      const said = (await askAll(app)) + log.text()
      expect(said).toContain('JWKS')
      expect(said).not.toContain('zq7@')
      expect(said).not.toMatch(/pass-zq7|user-zq7|key-zq7/)
    }
  })

  it('a refusal is logged with a reason that an operator can act on', async () => {
    const log = capturedLog('debug')
    const app = await guardedApp({ JWT_ISSUER: 'https://idp/' }, { logger: log.logger })
    await app.ask('/x', { token: mint({ claims: { iss: 'https://idp' } }) })
    const line = log.lines().find((each) => JSON.stringify(each).includes('issuer'))
    // The log, not the reply, shows both values.
    expect(JSON.stringify(line)).toContain('https://idp/')
    expect(JSON.stringify(line)).toMatch(/https:\/\/idp\\*"/)
  })
})
