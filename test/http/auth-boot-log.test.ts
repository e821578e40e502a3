import { spawn } from 'node:child_process'
import { mkdtemp, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { startAuthProcess } from '../support/auth-process.ts'
import { capturedLog } from '../support/captured-log.ts'
import { closeAfterTest, guardedApp, jwtEnvironment, send } from '../support/guarded-app.ts'
import {
  closedPort,
  keysAnswer,
  redirectAnswer,
  startJwksServer,
  statusAnswer,
} from '../support/jwks-server.ts'
import { certificatePem, ecKey, edKey, HS_SECRET, PEM_SPELLINGS, rsaKey } from '../support/keys.ts'
import { mint } from '../support/tokens.ts'

const GOOD = mint({
  alg: 'RS256',
  key: rsaKey('good').privateKey,
  header: { kid: 'good' },
  claims: { iat: undefined, exp: undefined },
})

async function boot(env: Record<string, string>) {
  const log = capturedLog()
  const app = await guardedApp(env, { logger: log.logger })
  return { app, log }
}

/** The warnings of a boot, as one text. */
async function warnings(env: Record<string, string>): Promise<string> {
  const { log } = await boot(env)
  const loud = log.lines().filter((line) => line['level'] === 'warn' || line['level'] === 'error')
  return loud.map((line) => String(line['msg'])).join('\n')
}

describe('the boot log', () => {
  it('says JWT auth ENABLED with the algorithm and the skip list at top level', async () => {
    const { log } = await boot({ JWT_ALGORITHM: 'auto', JWT_SKIP_PATHS: '/a, /b/' })
    expect(await log.line('JWT auth ENABLED')).toMatchObject({
      level: 'info',
      msg: 'JWT auth ENABLED',
      algorithm: 'auto',
      skipPaths: ['/a', '/b/'],
    })
  })

  it('says nothing of the kind while authentication is off', async () => {
    const { log } = await boot({ JWT_ENABLED: 'false' })
    expect(log.text()).not.toContain('ENABLED')
  })

  it('says JWKS pre-fetch OK with the number of usable keys', async () => {
    const server = await startJwksServer([
      rsaKey('good').jwk(),
      edKey().jwk(),
      ecKey().jwk(),
      rsaKey('enc').jwk({ use: 'enc' }),
      rsaKey('small', 1024).jwk(),
    ])
    closeAfterTest(server.stop)
    const { log } = await boot({ JWT_ALGORITHM: 'auto', JWT_JWKS_URL: server.url })
    expect(await log.line('JWKS pre-fetch OK')).toMatchObject({
      level: 'info',
      msg: 'JWKS pre-fetch OK',
      keys: 2,
    })
  })

  it('says JWKS pre-fetch failed (will retry on demand) and carries on', async () => {
    const url = `http://127.0.0.1:${await closedPort()}/jwks`
    const { app, log } = await boot({ JWT_ALGORITHM: 'auto', JWT_JWKS_URL: url })
    await log.line('JWKS pre-fetch failed (will retry on demand)')
    expect((await app.ask('/x', { token: mint() })).status).toBe(200)
  })

  it('warns that keys fetched over http:// can be forged on the way', async () => {
    const server = await startJwksServer([rsaKey().jwk()])
    closeAfterTest(server.stop)
    const { log } = await boot({ JWT_ALGORITHM: 'auto', JWT_JWKS_URL: server.url })
    const line = log.lines().find((each) => /MITM|cleartext|http:\/\//.test(String(each['msg'])))
    expect(line).toMatchObject({ level: 'warn' })
    const https = { JWT_ALGORITHM: 'auto', JWT_JWKS_URL: 'https://127.0.0.1:9/jwks' }
    expect(await warnings(https)).not.toMatch(/MITM|cleartext/)
  })

  it('a set without a usable key is logged as an error', async () => {
    const server = await startJwksServer([])
    closeAfterTest(server.stop)
    const { app, log } = await boot({ JWT_ALGORITHM: 'RS256', JWT_JWKS_URL: server.url })
    await app.ask('/x', { token: GOOD })
    expect(log.lines().some((line) => line['level'] === 'error')).toBe(true)
  })

  it('the reason of a failed fetch is logged, and names the fetch, not the token', async () => {
    const server = await startJwksServer([])
    closeAfterTest(server.stop)
    server.answer(statusAnswer(503))
    const { app, log } = await boot({ JWT_ALGORITHM: 'RS256', JWT_JWKS_URL: server.url })
    await app.ask('/x', { token: GOOD })
    const failures = log.lines().filter((line) => JSON.stringify(line).includes('503'))
    expect(failures.length).toBeGreaterThan(0)
    server.answer(redirectAnswer('http://127.0.0.1:9/'))
    app.clock.advance(6000)
    await app.ask('/x', { token: GOOD })
    expect(log.text()).toMatch(/redirect/i)
  })

  it('the body of a key server is not repeated in the log', async () => {
    const server = await startJwksServer([])
    closeAfterTest(server.stop)
    server.answer(keysAnswer([{ kty: 'oct', k: 'c2VjcmV0LXpxNy1tYXRlcmlhbA', kid: 'a' }]))
    const { app, log } = await boot({ JWT_ALGORITHM: 'RS256', JWT_JWKS_URL: server.url })
    await app.ask('/x', { token: GOOD })
    expect(log.text()).not.toContain('c2VjcmV0LXpxNy1tYXRlcmlhbA')
  })
})

describe('a boot warning names the variable and never its value', () => {
  const pem = { JWT_ALGORITHM: 'auto' }

  it.each([1, 6, 31])('a secret of %i bytes: with the length wanted', async (length) => {
    const said = await warnings({ JWT_SECRET: 'z'.repeat(length) })
    expect(said).toContain('JWT_SECRET')
    expect(said).toContain('32')
    if (length > 1) expect(said).not.toContain('z'.repeat(length))
  })

  it('none for a good secret', async () => {
    expect(await warnings({})).toBe('')
  })

  it.each([`${HS_SECRET}\n`, ` ${HS_SECRET}`, `${HS_SECRET}\t`, `${HS_SECRET}\r\n`])(
    'a secret with white space at an edge: %j',
    async (secret) => {
      const said = await warnings({ JWT_SECRET: secret })
      expect(said).toContain('JWT_SECRET')
      expect(said).not.toContain(HS_SECRET)
    },
  )

  it('a secret with U+FFFD, which was not text', async () => {
    const said = await warnings({ JWT_SECRET: `${HS_SECRET}\ufffd` })
    expect(said).toContain('JWT_SECRET')
    expect(said).not.toContain(HS_SECRET)
  })

  it.each([
    ['garbage', 'garbage-zq7'],
    ['a private key', rsaKey().privatePem],
    ['a private Ed25519 key', edKey().privatePem],
    ['an EC key', ecKey().publicPem],
    ['a small RSA key', rsaKey('small', 1024).publicPem],
    ['the base64 of a PEM', PEM_SPELLINGS.base64(rsaKey().publicPem)],
  ])('JWT_PUBLIC_KEY that is %s', async (_what, value) => {
    const said = await warnings({ ...pem, JWT_PUBLIC_KEY: value })
    expect(said).toContain('JWT_PUBLIC_KEY')
    for (const line of value.split('\n').filter((each) => each !== '' && !/---/.test(each))) {
      expect(said).not.toContain(line)
    }
  })

  it('an Ed25519 PEM under RS256, and an RSA PEM under EdDSA', async () => {
    const ed = { JWT_ALGORITHM: 'RS256', JWT_PUBLIC_KEY: edKey().publicPem }
    const rsa = { JWT_ALGORITHM: 'EdDSA', JWT_PUBLIC_KEY: rsaKey().publicPem }
    expect(await warnings(ed)).toContain('JWT_PUBLIC_KEY')
    expect(await warnings(rsa)).toContain('JWT_PUBLIC_KEY')
    expect(await warnings({ JWT_ALGORITHM: 'RS256', JWT_PUBLIC_KEY: rsaKey().publicPem })).toBe('')
  })
})

describe('in a process of its own', () => {
  it('boot lines are JSON on stdout, and the app serves', async () => {
    const app = await startAuthProcess(jwtEnvironment())
    const token = mint({ claims: { exp: undefined, iat: undefined } })
    expect((await send(`${app.url}/x`, { token })).status).toBe(200)
    expect((await send(`${app.url}/x`)).status).toBe(401)
    const lines = app
      .output()
      .split('\n')
      .filter((line) => line.startsWith('{'))
    const enabled = lines.map((line) => JSON.parse(line) as Record<string, unknown>)
    expect(enabled).toContainEqual(
      expect.objectContaining({ msg: 'JWT auth ENABLED', algorithm: 'HS256' }),
    )
  })

  it('a gate alone keeps no process alive, refresh timer or not', async () => {
    const server = await startJwksServer([rsaKey('good').jwk()])
    closeAfterTest(server.stop)
    const url = new URL('../../src/auth.ts', import.meta.url).href
    const script = `const { brokerAuth, loadAuthConfig } = await import(${JSON.stringify(url)})
      brokerAuth(loadAuthConfig())`
    const env = { JWT_ENABLED: 'true', JWT_ALGORITHM: 'RS256', JWT_JWKS_URL: server.url }
    const child = spawn(process.execPath, ['--input-type=module', '-e', script], { env })
    child.stdout.resume()
    const code = await new Promise((resolve) => child.once('exit', resolve))
    expect(code).toBe(0)
  })

  it('a fatal configuration ends it with a message that names the variable', async () => {
    const start = startAuthProcess({ JWT_ENABLED: 'true', JWT_ALGORITHM: 'RS256' })
    await expect(start).rejects.toThrow('JWT_PUBLIC_KEY')
  })

  it('NODE_EXTRA_CA_CERTS makes an https key server with a private authority trusted', async () => {
    const authority = rsaKey('authority')
    const cert = certificatePem(authority)
    const server = await startJwksServer([rsaKey('good').jwk()], {
      key: authority.privatePem,
      cert,
    })
    closeAfterTest(server.stop)
    const env = { JWT_ALGORITHM: 'RS256', JWT_JWKS_URL: server.url, JWT_ENABLED: 'true' }
    const file = join(await mkdtemp(join(tmpdir(), 'hivegate-ca-')), 'ca.pem')
    await writeFile(file, cert)
    const trusting = await startAuthProcess({ ...env, NODE_EXTRA_CA_CERTS: file })
    expect((await send(`${trusting.url}/x`, { token: GOOD })).status).toBe(200)

    const wary = await startAuthProcess(env)
    const answer = await send(`${wary.url}/x`, { token: GOOD })
    expect([answer.status, answer.body]).toEqual([401, { error: 'Unknown key ID' }])
    // The log names the cause that TLS gave.
    expect(wary.output()).toMatch(/certificate|SELF_SIGNED|DEPTH_ZERO|UNABLE_TO_VERIFY/i)
  })
})
