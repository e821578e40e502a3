import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { jwtVerify } from 'jose'
import { describe, expect, it } from 'vitest'
import { tokenCommand } from '../../src/cli/token.ts'
import { runCommand, runHere } from '../support/command.ts'
import { ecKey, edKey, HS_SECRET, rsaKey } from '../support/keys.ts'

const token = (args: readonly string[], env: Readonly<Record<string, string>> = {}) =>
  runHere(tokenCommand(), args, env)

const SECRET = ['--secret', HS_SECRET]
const hsKey = new TextEncoder().encode(HS_SECRET)
const folder = mkdtempSync(path.join(tmpdir(), 'hivegate-token-'))

function file(name: string, content: string): string {
  const at = path.join(folder, name)
  writeFileSync(at, content)
  return `@${at}`
}

describe('hivegate token', () => {
  it('mints a token that another library verifies: role, sub, iat and exp', async () => {
    const args = ['--role', 'write-only', '--sub', 'producer-1', '--ttl', '1h', ...SECRET]
    const { code, stdout, stderr } = await token(args)
    expect([code, stderr]).toEqual([0, ''])
    expect(stdout).toMatch(/^[\w-]+\.[\w-]+\.[\w-]+\n$/)
    const { payload, protectedHeader } = await jwtVerify(stdout.trim(), hsKey)
    expect(protectedHeader).toEqual({ alg: 'HS256', typ: 'JWT' })
    expect(payload).toMatchObject({ role: 'write-only', sub: 'producer-1' })
    expect((payload.exp ?? 0) - (payload.iat ?? 0)).toBe(3600)
  })

  it('warns on standard error of a secret shorter than the hash, and mints', async () => {
    const short = await token(['--role', 'admin', '--secret', 'x'.repeat(32), '--alg', 'HS384'])
    expect(short.code).toBe(0)
    expect(short.stdout).toMatch(/^[\w-]+\.[\w-]+\.[\w-]+\n$/)
    expect(short.stderr).toBe(
      'warning: the secret has 32 bytes, for HS384 it should have 48 or more random ones\n',
    )
    expect((await token(['--role', 'admin', '--secret', 'x'.repeat(32)])).stderr).toBe('')
  })

  it('writes claims, values, issuer and audience as configured', async () => {
    const env = {
      JWT_SECRET: HS_SECRET,
      JWT_ROLES_CLAIM: 'scope',
      JWT_ROLE_WRITE_ONLY: 'queen.write',
      JWT_ISSUER: 'https://idp',
      JWT_AUDIENCE: 'queue',
    }
    const one = await token(['--role', 'write-only'], env)
    const { payload } = await jwtVerify(one.stdout.trim(), hsKey)
    expect(payload).toMatchObject({ scope: 'queen.write', iss: 'https://idp', aud: 'queue' })
    const two = await token(['--role', 'write-only', '--role', 'admin', '--aud', 'x'], env)
    const { payload: several } = await jwtVerify(two.stdout.trim(), hsKey)
    expect(several).toMatchObject({ roles: ['queen.write', 'admin'], aud: 'x' })
    expect(several).not.toHaveProperty('scope')
  })

  it('signs with a private key from a file, or a JWK', async () => {
    const pem = file('rsa.pem', rsaKey().privatePem)
    const rsa = await token(['--role', 'admin', '--key', pem, '--alg', 'RS384', '--kid', 'k1'])
    const verified = await jwtVerify(rsa.stdout.trim(), rsaKey().publicKey)
    expect(verified.protectedHeader).toMatchObject({ alg: 'RS384', kid: 'k1' })
    const ed = await token(['--role', 'admin', '--key', edKey().privatePem])
    expect((await jwtVerify(ed.stdout.trim(), edKey().publicKey)).protectedHeader.alg).toBe('EdDSA')
    const jwk = file('rsa.jwk', JSON.stringify(rsaKey().privateJwk({ alg: 'RS512' })))
    const byJwk = await token(['--role', 'admin', '--key', jwk])
    expect(
      (await jwtVerify(byJwk.stdout.trim(), rsaKey().publicKey)).protectedHeader,
    ).toMatchObject({ alg: 'RS512', kid: 'rsa-1' })
  })

  it('reads a key from standard input, as a process of its own', { timeout: 300_000 }, async () => {
    const args = ['--role', 'admin', '--key', '@-']
    const input = { env: {}, stdin: edKey().privatePem }
    const { code, stdout } = await runCommand('token.ts', 'tokenCommand', ['token', ...args], input)
    expect(code).toBe(0)
    await expect(jwtVerify(stdout.trim(), edKey().publicKey)).resolves.toBeDefined()
  })

  it('reads a secret from a file, without the line break at its end', async () => {
    const { stdout } = await token(['--role', 'admin', '--secret', file('s', `${HS_SECRET}\n`)])
    await expect(jwtVerify(stdout.trim(), hsKey)).resolves.toBeDefined()
  })

  it.each([
    ['no role', SECRET],
    ['an unknown role', ['--role', 'root', ...SECRET]],
    ['no key at all', ['--role', 'admin']],
    ['a secret beside a key', ['--role', 'admin', '--key', '@x', ...SECRET]],
    ['a ttl without unit that is no number', ['--role', 'admin', '--ttl', 'soon', ...SECRET]],
    ['a ttl of nothing', ['--role', 'admin', '--ttl', '0', ...SECRET]],
    ['a negative ttl', ['--role', 'admin', '--ttl=-1h', ...SECRET]],
    ['an algorithm of another family', ['--role', 'admin', '--alg', 'RS256', ...SECRET]],
    ['an algorithm that the broker never accepts', ['--role', 'admin', '--alg', 'none', ...SECRET]],
    ['a key file that is not there', ['--role', 'admin', '--key', '@/nowhere/x']],
    ['a public key', ['--role', 'admin', '--key', rsaKey().publicPem]],
    ['an EC key', ['--role', 'admin', '--key', ecKey().privatePem]],
    ['broken JSON', ['--role', 'admin', '--key', '{"kty":']],
    ['an unknown option', ['--role', 'admin', '--rolle', 'x', ...SECRET]],
  ])('with %s ends with 1 and one line on standard error', async (_what, args) => {
    const { code, stdout, stderr } = await token(args)
    expect([code, stdout]).toEqual([1, ''])
    expect(stderr).toMatch(/^error: .+\n/)
    expect(stderr).not.toContain(HS_SECRET)
    expect(stderr).not.toMatch(/^\s+at /m)
  })
})
