import { describe, expect, it } from 'vitest'
import { loadAuthConfig } from '../../src/auth.ts'
import { loadConfig } from '../../src/config/index.ts'
import { guardedApp } from '../support/guarded-app.ts'
import { closedPort } from '../support/jwks-server.ts'
import { edKey, HS_SECRET, rsaKey } from '../support/keys.ts'
import { mint } from '../support/tokens.ts'

const PEM = rsaKey().publicPem
const URL_OF_SET = 'http://127.0.0.1:9/jwks'

type Env = Readonly<Record<string, string>>

/** The lines of the ConfigError that this environment raises; empty when it is accepted. */
function problems(env: Env): readonly string[] {
  try {
    loadAuthConfig(env)
    return []
  } catch (error) {
    expect(error).toMatchObject({ name: 'ConfigError', code: 'config_invalid' })
    return (error as { problems: readonly string[] }).problems
  }
}

describe('with JWT_ENABLED=true a start is refused', () => {
  it.each(['HS256', 'HS384', 'HS512', 'auto'])('%s with no key material at all', (algorithm) => {
    const found = problems({ JWT_ENABLED: 'true', JWT_ALGORITHM: algorithm })
    expect(found).toHaveLength(1)
    for (const name of ['JWT_SECRET', 'JWT_PUBLIC_KEY', 'JWT_JWKS_URL']) {
      expect(found[0]).toContain(name)
    }
  })

  it('JWT_ALGORITHM unset, hence HS256, with no key material at all', () => {
    expect(problems({ JWT_ENABLED: 'true' })[0]).toContain('JWT_SECRET')
  })

  it.each(['RS256', 'RS384', 'RS512', 'EdDSA'])('%s with neither PEM nor key set', (algorithm) => {
    for (const secret of ['', HS_SECRET]) {
      const env = { JWT_ENABLED: 'true', JWT_ALGORITHM: algorithm, JWT_SECRET: secret }
      const found = problems(env)
      expect(found).toHaveLength(1)
      expect(found[0]).toContain('JWT_PUBLIC_KEY')
      expect(found[0]).toContain('JWT_JWKS_URL')
      expect(found[0]).not.toContain(HS_SECRET)
    }
  })

  it.each(['ES256', 'PS256', 'none', 'hs256', 'AUTO', 'HS256,RS256', 'HS 256', 'Ed25519', 'x'])(
    'JWT_ALGORITHM=%s, outside the supported list',
    (algorithm) => {
      const found = problems({ JWT_ENABLED: 'true', JWT_ALGORITHM: algorithm, JWT_SECRET: 'x' })
      expect(found.join()).toContain('JWT_ALGORITHM')
    },
  )
})

describe('key material that suffices', () => {
  const material = { JWT_SECRET: HS_SECRET, JWT_PUBLIC_KEY: PEM, JWT_JWKS_URL: URL_OF_SET }
  const asymmetric = ['JWT_PUBLIC_KEY', 'JWT_JWKS_URL'] as const
  const rows = [
    ...['HS256', 'HS384', 'HS512', 'auto'].map((name) => [name, 'JWT_SECRET'] as const),
    ...['HS256', 'HS384', 'HS512', 'auto', 'RS256', 'RS384', 'RS512', 'EdDSA'].flatMap((name) =>
      asymmetric.map((variable) => [name, variable] as const),
    ),
  ]
  it.each(rows)('%s is accepted with %s alone', (algorithm, name) => {
    const env = { JWT_ENABLED: 'true', JWT_ALGORITHM: algorithm, [name]: material[name] }
    expect(problems(env)).toEqual([])
  })

  it('all three together are accepted', () => {
    expect(problems({ JWT_ENABLED: 'true', JWT_ALGORITHM: 'auto', ...material })).toEqual([])
  })

  it('none is wanted while authentication is off', () => {
    expect(problems({})).toEqual([])
    expect(problems({ JWT_ALGORITHM: 'RS256' })).toEqual([])
    expect(problems({ JWT_ENABLED: 'false', JWT_ALGORITHM: 'EdDSA' })).toEqual([])
  })
})

describe('a value that cannot be read is fatal and names its variable', () => {
  const words = ['yes', 'no', 'on', 'off', 'tru', 'enabled', '2', '-1', 'truee', ' ', 'null']
  it.each(words)('JWT_ENABLED=%j never means off in silence', (value) => {
    expect(problems({ JWT_ENABLED: value, JWT_SECRET: 'x' }).join()).toContain('JWT_ENABLED')
  })

  it.each(['Infinity', '1e12', '5s', '-1', 'NaN', '86401', '30.5', '0x10', '1e3', '+5', ' '])(
    'JWT_CLOCK_SKEW=%j',
    (value) => {
      expect(problems({ JWT_CLOCK_SKEW: value }).join()).toContain('JWT_CLOCK_SKEW')
    },
  )

  it.each(['0', '-1', 'x', '1.5', 'Infinity', '60s', '999999999999'])(
    'JWT_JWKS_REFRESH_INTERVAL=%j',
    (value) => {
      const found = problems({ JWT_JWKS_REFRESH_INTERVAL: value }).join()
      expect(found).toContain('JWT_JWKS_REFRESH_INTERVAL')
    },
  )

  it.each(['-1', 'x', '1.5', 'Infinity', '5s'])('JWT_JWKS_TIMEOUT_MS=%j', (value) => {
    expect(problems({ JWT_JWKS_TIMEOUT_MS: value }).join()).toContain('JWT_JWKS_TIMEOUT_MS')
  })

  it.each(['not a url', 'jwks.json', '/jwks.json', 'file:///etc/passwd', 'ftp://x/y', 'data:,x'])(
    'JWT_JWKS_URL=%j',
    (value) => {
      expect(problems({ JWT_JWKS_URL: value }).join()).toContain('JWT_JWKS_URL')
    },
  )

  it('all wrong variables are named at once, each in one line', () => {
    const found = problems({
      JWT_ENABLED: 'maybe',
      JWT_ALGORITHM: 'ES256',
      JWT_CLOCK_SKEW: '-1',
      JWT_JWKS_REFRESH_INTERVAL: '0',
    })
    expect(found).toHaveLength(4)
    expect(found.join('')).not.toContain('\n')
  })
})

describe('the defaults', () => {
  it('are those of the seed', () => {
    expect(loadAuthConfig({})).toMatchObject({
      enabled: false,
      algorithm: 'HS256',
      secret: '',
      publicKey: '',
      jwksUrl: '',
      jwksRefreshIntervalS: 3600,
      jwksTimeoutMs: 5000,
      issuer: '',
      audience: '',
      clockSkewS: 30,
      skipPaths: ['/health', '/metrics/prometheus', '/metrics', '/'],
      rolesClaim: 'role',
      rolesArrayClaim: 'roles',
      roleAdmin: 'admin',
      roleReadWrite: 'read-write',
      roleReadOnly: 'read-only',
      roleWriteOnly: 'write-only',
    })
  })

  it('hold for an empty variable, whichever it is', () => {
    const names = ['ENABLED', 'ALGORITHM', 'SECRET', 'PUBLIC_KEY', 'JWKS_URL', 'CLOCK_SKEW']
      .concat(['JWKS_REFRESH_INTERVAL', 'JWKS_TIMEOUT_MS', 'ISSUER', 'AUDIENCE', 'SKIP_PATHS'])
      .concat(['ROLES_CLAIM', 'ROLES_ARRAY_CLAIM', 'ROLE_ADMIN', 'ROLE_READ_WRITE'])
      .concat(['ROLE_READ_ONLY', 'ROLE_WRITE_ONLY'])
    const empty = Object.fromEntries(names.map((name) => [`JWT_${name}`, '']))
    expect(loadAuthConfig(empty)).toEqual(loadAuthConfig({}))
  })

  it.each([
    ['true', true],
    ['TRUE', true],
    ['True', true],
    ['1', true],
    ['false', false],
    ['FALSE', false],
    ['0', false],
    ['', false],
  ])('JWT_ENABLED=%j means %s', (value, enabled) => {
    expect(loadAuthConfig({ JWT_ENABLED: value, JWT_SECRET: 'x' }).enabled).toBe(enabled)
  })

  it.each([
    ['0', 0],
    ['86400', 86_400],
    ['', 30],
  ])('JWT_CLOCK_SKEW=%j is accepted', (value, skew) => {
    expect(loadAuthConfig({ JWT_CLOCK_SKEW: value }).clockSkewS).toBe(skew)
  })

  it('the configuration is frozen', () => {
    expect(Object.isFrozen(loadAuthConfig({}))).toBe(true)
  })
})

describe('an unknown name below JWT_', () => {
  it.each([
    ['JWT_ISSUERR', 'JWT_ISSUER'],
    ['JWT_ALGORITM', 'JWT_ALGORITHM'],
    ['JWT_JWKS_URI', 'JWT_JWKS_URL'],
    ['JWT_SKIP_PATH', 'JWT_SKIP_PATHS'],
  ])('%s is warned about in one line with the nearest known name %s', (name, nearest) => {
    const { warnings } = loadConfig({ [name]: 'value-zq7' })
    expect(warnings).toHaveLength(1)
    expect(warnings[0]).toContain(name)
    expect(warnings[0]).toMatch(new RegExp(`\\b${nearest}\\b`))
    expect(warnings[0]).not.toContain('value-zq7')
  })

  it('names of others are none of our business', () => {
    expect(loadConfig({ JWTX: 'x', MY_JWT_SECRET: 'x', jwt_secret: 'x' }).warnings).toEqual([])
  })
})

describe('every other mistake starts cleanly and fails per request', () => {
  it('a wrong secret', async () => {
    const app = await guardedApp({ JWT_SECRET: 'another secret' })
    expect((await app.ask('/x', { token: mint() })).status).toBe(401)
  })

  it('a short secret', async () => {
    const app = await guardedApp({ JWT_SECRET: 's' })
    expect((await app.ask('/x', { token: mint({ key: 's' }) })).status).toBe(200)
  })

  it('an unreachable JWKS endpoint', async () => {
    const url = `http://127.0.0.1:${await closedPort()}/jwks`
    const app = await guardedApp({ JWT_ALGORITHM: 'RS256', JWT_JWKS_URL: url })
    const answer = await app.ask('/x', { token: mint({ alg: 'RS256' }) })
    expect([answer.status, answer.body]).toEqual([401, { error: 'Unknown key ID' }])
    expect((await app.ask('/health')).status).toBe(200)
  })

  it('a role mapping that matches nothing', async () => {
    const app = await guardedApp({ JWT_ROLE_ADMIN: 'nobody', JWT_ROLE_READ_WRITE: 'no one' })
    expect((await app.ask('/x', { token: mint() })).status).toBe(403)
  })

  it('a PEM that does not parse, or of the other kind', async () => {
    for (const pem of ['garbage', edKey().publicPem, rsaKey().privatePem]) {
      const app = await guardedApp({ JWT_ALGORITHM: 'RS256', JWT_PUBLIC_KEY: pem })
      expect((await app.ask('/x', { token: mint({ alg: 'RS256' }) })).status).toBe(500)
      expect((await app.ask('/health')).status).toBe(200)
    }
  })
})
