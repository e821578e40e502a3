import { describe, expect, it } from 'vitest'
import { START_S } from '../support/clock.ts'
import { closeAfterTest, guardedApp } from '../support/guarded-app.ts'
import { startJwksServer } from '../support/jwks-server.ts'
import { rsaKey } from '../support/keys.ts'
import { mint, roleToken, withBrokenSignature } from '../support/tokens.ts'

const INVALID = 'Bearer error="invalid_token"'
const SCOPE = 'Bearer error="insufficient_scope"'

interface ErrorRow {
  readonly status: number
  readonly message: string
  readonly challenge: string | null
  readonly env?: Readonly<Record<string, string>>
  readonly token: (() => string) | undefined
}

const pem = { JWT_ALGORITHM: 'auto', JWT_SECRET: '' }

/** Seed, "The token on the wire", row by row, with the challenges of RFC 6750 §3. */
const ROWS: readonly ErrorRow[] = [
  { status: 401, message: 'Authentication required', challenge: 'Bearer', token: undefined },
  { status: 401, message: 'Bad token header', challenge: INVALID, token: () => 'no-jwt' },
  {
    status: 401,
    message: 'Unsupported token algorithm',
    challenge: INVALID,
    token: () => mint({ alg: 'HS384' }),
  },
  {
    status: 401,
    message: 'Invalid token signature',
    challenge: INVALID,
    token: () => withBrokenSignature(mint()),
  },
  {
    status: 401,
    message: 'Token has expired',
    challenge: INVALID,
    token: () => mint({ claims: { exp: START_S - 31 } }),
  },
  {
    status: 401,
    message: 'Token not yet valid',
    challenge: INVALID,
    token: () => mint({ claims: { nbf: START_S + 31 } }),
  },
  {
    status: 401,
    message: 'Token issued in the future',
    challenge: INVALID,
    token: () => mint({ claims: { iat: START_S + 31 } }),
  },
  {
    status: 401,
    message: 'Invalid token issuer',
    challenge: INVALID,
    env: { JWT_ISSUER: 'us' },
    token: () => mint({ claims: { iss: 'them' } }),
  },
  {
    status: 401,
    message: 'Invalid token audience',
    challenge: INVALID,
    env: { JWT_AUDIENCE: 'us' },
    token: () => mint({ claims: { aud: 'them' } }),
  },
  {
    status: 401,
    message: 'Invalid token claims',
    challenge: INVALID,
    token: () => mint({ claims: { exp: 'never' } }),
  },
  {
    status: 401,
    message: 'Unknown key ID',
    challenge: INVALID,
    env: { JWT_ALGORITHM: 'auto' },
    token: () => mint({ alg: 'RS256' }),
  },
  {
    status: 403,
    message: 'Insufficient permissions',
    challenge: SCOPE,
    token: () => roleToken('write-only'),
  },
  {
    status: 500,
    message: 'HS secret not configured',
    challenge: null,
    env: { ...pem, JWT_PUBLIC_KEY: 'x' },
    token: () => mint(),
  },
  {
    status: 500,
    message: 'invalid RSA public key PEM',
    challenge: null,
    env: { ...pem, JWT_PUBLIC_KEY: 'x' },
    token: () => mint({ alg: 'RS256' }),
  },
  {
    status: 500,
    message: 'invalid Ed public key PEM',
    challenge: null,
    env: { ...pem, JWT_PUBLIC_KEY: 'x' },
    token: () => mint({ alg: 'EdDSA' }),
  },
]

describe('every refusal', () => {
  it.each(ROWS)('$status $message: exact body, JSON type and challenge', async (row) => {
    const app = await guardedApp(row.env)
    for (const [method, path] of [
      ['GET', '/api/v1/pop'],
      ['DELETE', '/api/v1/messages/p/t'],
      ['POST', '/nowhere'],
    ] as const) {
      const answer = await app.ask(path, { method, token: row.token?.() })
      expect(answer.status).toBe(row.status)
      expect(answer.body).toEqual({ error: row.message })
      expect(answer.headers.get('content-type')).toMatch(/^application\/json(; charset=utf-8)?$/)
      expect(answer.headers.get('www-authenticate')).toBe(row.challenge)
    }
    expect(app.reached).toEqual([])
  })

  it('is the same at the second request with the same token', async () => {
    for (const row of ROWS) {
      const app = await guardedApp(row.env)
      const token = row.token?.()
      const first = await app.ask('/api/v1/pop', { token })
      const second = await app.ask('/api/v1/pop', { token })
      expect([second.status, second.body]).toEqual([first.status, first.body])
    }
  })
})

describe('the order of the checks', () => {
  const refusal = async (env: Record<string, string>, token: string) => {
    const { body } = await (await guardedApp(env)).ask('/api/v1/system/x', { token })
    return (body as { error: string }).error
  }
  const late = { exp: START_S - 100, iss: 'them', aud: 'them', role: 'none' }
  const strict = { JWT_ISSUER: 'us', JWT_AUDIENCE: 'us' }

  it('alg comes before the key', async () => {
    const env = { JWT_SECRET: '', JWT_PUBLIC_KEY: 'x' }
    expect(await refusal(env, mint({ alg: 'RS256' }))).toBe('Unsupported token algorithm')
  })

  it('the key comes before the signature', async () => {
    const env = { JWT_SECRET: '', JWT_PUBLIC_KEY: 'x' }
    expect(await refusal(env, withBrokenSignature(mint()))).toBe('HS secret not configured')
  })

  it('the signature comes before the claims', async () => {
    const token = withBrokenSignature(mint({ claims: late }))
    expect(await refusal(strict, token)).toBe('Invalid token signature')
  })

  it('then temporal claims, issuer, audience, roles', async () => {
    expect(await refusal(strict, mint({ claims: late }))).toBe('Token has expired')
    const { exp: _exp, ...noExp } = late
    expect(await refusal(strict, mint({ claims: noExp }))).toBe('Invalid token issuer')
    const ours = { ...noExp, iss: 'us' }
    expect(await refusal(strict, mint({ claims: ours }))).toBe('Invalid token audience')
    const both = { ...ours, aud: 'us' }
    expect(await refusal(strict, mint({ claims: both }))).toBe('Insufficient permissions')
  })
})

describe('a key server outage', () => {
  it('is answered 401 Unknown key ID, and not remembered as a fault of the token', async () => {
    const server = await startJwksServer([rsaKey().jwk()])
    closeAfterTest(server.stop)
    await server.stop()
    const env = { JWT_ALGORITHM: 'RS256', JWT_JWKS_URL: server.url }
    const app = await guardedApp(env)
    const token = mint({ alg: 'RS256', header: { kid: rsaKey().kid } })
    expect(await app.ask('/x', { token })).toMatchObject({
      status: 401,
      body: { error: 'Unknown key ID' },
    })
    await server.start()
    app.clock.advance(5000)
    expect((await app.ask('/x', { token })).status).toBe(200)
  })
})
