import { afterEach, describe, expect, it } from 'vitest'
import { explainCommand } from '../../src/cli/explain.ts'
import { runCommand, runHere } from '../support/command.ts'
import { closedPort, startJwksServer } from '../support/jwks-server.ts'
import { HS_SECRET, rsaKey } from '../support/keys.ts'
import { mint } from '../support/tokens.ts'

const explain = (args: readonly string[], env: Readonly<Record<string, string>>) =>
  runHere(explainCommand(), args, env)

const ON = { JWT_ENABLED: 'true', JWT_SECRET: HS_SECRET }
const nowS = Math.floor(Date.now() / 1000)
const token = (claims: Record<string, unknown> = {}) =>
  mint({ claims: { iat: nowS, exp: nowS + 600, ...claims } })

const cleanups: (() => unknown)[] = []
afterEach(async () => {
  for (const clean of cleanups.splice(0)) await clean()
})

/** The steps as `[mark, name]`. */
function steps(stdout: string): readonly string[] {
  const lines = stdout.split('\n').filter((line) => line.startsWith('  '))
  return lines.map((line) =>
    line
      .trim()
      .split(/\s{2,}/)
      .slice(0, 2)
      .join(' '),
  )
}

describe('hivegate explain', () => {
  it('knows that the broker answers OPTIONS before the gate', async () => {
    const result = await explain(['OPTIONS', '/api/v1/system/x'], ON)
    expect([result.code, result.stdout]).toEqual([
      0,
      'OPTIONS /api/v1/system/x\nallowed: the broker answers OPTIONS with 204 before the gate\n',
    ])
  })

  it('takes the absolute form of a target, and no method that no HTTP server reads', async () => {
    const absolute = await explain(['GET', 'http://host/api/v1/status', '--token', token()], ON)
    expect(absolute.code).toBe(0)
    expect(absolute.stdout).toMatch(/^GET \/api\/v1\/status\n/)
    const small = await explain(['get', '/api/v1/status'], ON)
    expect([small.code, small.stdout]).toEqual([2, ''])
  })

  it('tells each step of a request that is allowed, and exits 0', async () => {
    const result = await explain(['GET', '/api/v1/status?x=1', '--token', token()], ON)
    expect(result.code).toBe(0)
    expect(steps(result.stdout)).toEqual([
      '-- skip',
      '-- level',
      'ok credential',
      'ok token',
      'ok algorithm',
      'ok key source',
      'ok signature',
      'ok payload',
      'ok sub',
      'ok dates',
      'ok exp',
      'ok nbf',
      'ok iat',
      '-- iss',
      '-- aud',
      'ok roles',
    ])
    expect(result.stdout).toContain('GET /api/v1/status\n')
    expect(result.stdout).toMatch(/held: read-write; wanted for read-only: one of read-only, /)
    expect(result.stdout).toMatch(/allowed \(role_held\)\n$/)
  })

  it.each([
    ['no token', [], '401 Authentication required', 'NO credential'],
    ['another scheme', ['--token', 'Basic x'], '401 Bad token header', 'NO token'],
    ['a low role', ['--token', token({ role: 'write-only' })], '403 Insufficient', 'NO roles'],
    ['an old token', ['--token', token({ exp: 1 })], '401 Token has expired', 'NO exp'],
    ['a wrong key', ['--token', mint({ key: 'x' })], '401 Invalid token signature', 'NO signature'],
    ['alg none', ['--token', mint({ alg: 'none' })], '401 Unsupported token', 'NO algorithm'],
    ['a wrong iss', ['--token', token({ iss: 'b' })], '401 Invalid token issuer', 'NO iss'],
    ['sub of a wrong type', ['--token', token({ sub: 5 })], '401 Invalid token claims', 'NO sub'],
  ])('with %s exits 1 and names the answer and the step', async (what, args, answer, step) => {
    const env = { ...ON, ...(what === 'a wrong iss' ? { JWT_ISSUER: 'a' } : {}) }
    const { code, stdout } = await explain(['GET', '/api/v1/pop', ...args], env)
    expect(code).toBe(1)
    expect(stdout).toContain(`refused: ${answer}`)
    expect(steps(stdout).at(-1)).toBe(step)
  })

  it('reads the token from standard input, as a process of its own', {
    timeout: 300_000,
  }, async () => {
    const args = ['GET', '/api/v1/status', '--token', '@-']
    const input = { env: ON, stdin: `${token({ role: 'write-only' })}\n` }
    const result = await runCommand('explain.ts', 'explainCommand', ['explain', ...args], input)
    expect(result.code).toBe(1)
    expect(steps(result.stdout).at(-1)).toBe('NO roles')
    const usage = await runCommand('explain.ts', 'explainCommand', ['explain', 'GET'], input)
    expect(usage.code).toBe(2)
  })

  it('never prints the token or the secret', async () => {
    for (const text of [token(), mint({ key: 'x' }), `Basic ${token()}`, 'junk-junk-junk']) {
      const { stdout, stderr } = await explain(['GET', '/x', '--token', text], ON)
      for (const part of [...text.split(/[ .]/).filter((piece) => piece.length > 9), HS_SECRET]) {
        expect(stdout + stderr).not.toContain(part)
      }
    }
  })

  it('tells what needs no token: auth off, skipped, public', async () => {
    const reason = async (path: string, env: Record<string, string>) => {
      const { code, stdout } = await explain(['GET', path], env)
      return [code, /\((\w+)\)\n$/.exec(stdout)?.[1]]
    }
    expect(await reason('/x', {})).toEqual([0, 'auth_off'])
    expect(await reason('/health', ON)).toEqual([0, 'skipped'])
    expect(await reason('/auth/me', ON)).toEqual([0, 'public'])
  })

  it('asks the key set, and tells when it cannot be fetched', async () => {
    const server = await startJwksServer([rsaKey().jwk()])
    cleanups.push(server.stop)
    const claims = { iat: nowS, exp: nowS + 600 }
    const signed = mint({ alg: 'RS256', header: { kid: 'rsa-1' }, claims })
    const args = ['GET', '/x', '--token', signed]
    const env = (url: string) => ({ JWT_ENABLED: '1', JWT_ALGORITHM: 'RS256', JWT_JWKS_URL: url })
    const good = await explain(args, env(server.url))
    expect([good.code, steps(good.stdout)]).toMatchObject([
      0,
      expect.arrayContaining(['ok signature']),
    ])
    const down = await explain(args, env(`http://127.0.0.1:${await closedPort()}/`))
    expect(down.code).toBe(1)
    expect(down.stdout).toContain('ECONNREFUSED')
    expect(down.stdout).toContain('401 Unknown key ID')
  })

  it.each([
    ['nothing', [], ON],
    ['no path', ['GET'], ON],
    ['a path without slash', ['GET', 'x'], ON],
    ['a method that is none', ['G T', '/x'], ON],
    ['too much', ['GET', '/x', 'y'], ON],
    ['an unknown option', ['GET', '/x', '--tokn', 'y'], ON],
    ['a token file that is not there', ['GET', '/x', '--token', '@/nowhere/x'], ON],
    ['an environment that cannot be read', ['GET', '/x'], { ...ON, JWT_CLOCK_SKEW: '-1' }],
    ['key material that is missing', ['GET', '/x'], { JWT_ENABLED: 'true' }],
  ])('with %s exits 2 and says why on standard error', async (_what, args, env) => {
    const { code, stderr } = await explain(args, env)
    expect(code).toBe(2)
    expect(stderr).not.toBe('')
    expect(stderr).not.toMatch(/^\s+at /m)
  })
})
