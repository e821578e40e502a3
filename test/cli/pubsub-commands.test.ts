import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, statSync } from 'node:fs'
import { rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { load, loadPublic, verify } from '@moq/token'
import { type Command, CommanderError } from 'commander'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { keysCommand } from '../../src/cli/keys.ts'
import { pubsubTokenCommand } from '../../src/cli/pubsub-token.ts'
import { type IssuerApp, partsOf, SERVICE_KEY, startIssuer } from '../issuer/issuer-app.ts'
import { ecKey } from '../support/keys.ts'

const MAKERS = { keys: keysCommand, 'pubsub-token': pubsubTokenCommand } as const
type CommandName = keyof typeof MAKERS

interface Outcome {
  readonly code: number
  readonly out: string
  readonly err: string
}

/** Every command of a tree. */
const tree = (command: Command): readonly Command[] => [command, ...command.commands.flatMap(tree)]

/** Runs a command in this process, with these variables and no others of ours. */
async function run(
  name: CommandName,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<Outcome> {
  const command = MAKERS[name]()
  const written = { out: '', err: '' }
  for (const one of tree(command)) {
    one.exitOverride().configureOutput({
      writeErr: (text) => {
        written.err += text
      },
    })
  }
  for (const [key, value] of Object.entries(env)) vi.stubEnv(key, value)
  const stdout = vi.spyOn(process.stdout, 'write').mockImplementation((text) => {
    written.out += String(text)
    return true
  })
  try {
    await command.parseAsync([...args], { from: 'user' })
    return { code: 0, ...written }
  } catch (error) {
    if (error instanceof CommanderError) return { code: error.exitCode, ...written }
    throw error
  } finally {
    stdout.mockRestore()
    vi.unstubAllEnvs()
  }
}

/** Runs a command in a process of its own. */
function runProcess(name: CommandName, args: readonly string[], env: NodeJS.ProcessEnv) {
  const file = new URL(`../../src/cli/${name}.ts`, import.meta.url).href
  const code = `
    const commands = await import(${JSON.stringify(file)})
    await commands.${MAKERS[name].name}().parseAsync(process.argv.slice(1), { from: 'user' })`
  const argv = ['--input-type=module', '-e', code, '--', ...args]
  return new Promise<Outcome>((resolve) => {
    execFile(process.execPath, argv, { env }, (error, out, err) => {
      resolve({ code: Number(error?.code ?? 0), out, err })
    })
  })
}

let folder: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'hivegate-cli-'))
})
afterAll(() => rm(folder, { recursive: true }))

const PRIVATE = ecKey('cli').privateJwk({ alg: 'ES256', key_ops: ['sign', 'verify'] })
const PRIVATE_TEXT = JSON.stringify(PRIVATE)
const PUBLIC = loadPublic(JSON.stringify(ecKey('cli').jwk({ alg: 'ES256', key_ops: ['verify'] })))

describe('pubsub-token', () => {
  it('prints one token that an independent verifier accepts', async () => {
    const args = ['--root', 'demo', '--put', 'cam', '--put', 'mic', '--get', '', '--ttl', '90s']
    const env = { PUBSUB_JWT_PRIVATE_JWK: PRIVATE_TEXT }
    const { code, out } = await runProcess('pubsub-token', args, env)
    expect(code).toBe(0)
    expect(out).toMatch(/^\S+\n$/)
    const claims = await verify(PUBLIC, out.trim(), 'demo')
    expect(claims).toMatchObject({ root: 'demo', put: ['cam', 'mic'], get: [''] })
    expect(Number(claims.exp) - Number(claims.iat)).toBe(90)
    expect(partsOf(out)[0]).toEqual({ alg: 'ES256', typ: 'JWT', kid: 'cli' })
  })

  it('takes the key from a file and the lifetime from the environment', async () => {
    const file = join(folder, 'key.json')
    await writeFile(file, PRIVATE_TEXT)
    const args = ['--put', 'a', '--key', `@${file}`]
    const { out } = await run('pubsub-token', args, { PUBSUB_TOKEN_TTL_SEC: '60' })
    const [, payload] = partsOf(out)
    expect(Number(payload?.['exp']) - Number(payload?.['iat'])).toBe(60)
    expect(payload).toMatchObject({ root: '', put: ['a'], get: [] })
  })

  const env = { PUBSUB_JWT_PRIVATE_JWK: PRIVATE_TEXT }
  it.each<[string, string[], Record<string, string>]>([
    ['no grant', [], env],
    ['no key', ['--put', 'a'], {}],
    ['a prefix with ..', ['--put', '../a'], env],
    ['a prefix with an encoded slash', ['--get', 'a%2Fb'], env],
    ['a prefix with a broken escape', ['--get', 'a%'], env],
    ['a root with .', ['--put', 'a', '--root', './a'], env],
    [
      'a public key',
      ['--put', 'a', '--key', JSON.stringify(ecKey('cli').jwk({ alg: 'ES256' }))],
      {},
    ],
    ['a lifetime under 60 s', ['--put', 'a', '--ttl', '59'], env],
    ['a lifetime over a day', ['--put', 'a', '--ttl', '25h'], env],
    ['a lifetime that is none', ['--put', 'a', '--ttl', 'soon'], env],
    ['a bad environment', ['--put', 'a'], { ...env, PUBSUB_TOKEN_TTL_SEC: '1' }],
    ['an unknown flag', ['--put', 'a', '--sub', 'x'], env],
  ])('%s: exit code 1, one line on standard error, no key material', async (_what, args, vars) => {
    const { code, out, err } = await run('pubsub-token', args, vars)
    expect([code, out]).toEqual([1, ''])
    expect(err).toMatch(/^error: .+\n$/)
    expect(err).not.toContain(String(PRIVATE['d']))
  })
})

describe('keys generate', () => {
  it.each(['RS256', 'PS512', 'ES256', 'ES384', 'EdDSA'])(
    'makes an %s key that works as PUBSUB_JWT_PRIVATE_JWK and in @moq/token',
    async (alg) => {
      const { code, out } = await run('keys', ['generate', '--alg', alg, '--kid', 'k-1'])
      expect(code).toBe(0)
      expect(load(out)).toMatchObject({ alg, kid: 'k-1' })
      const minted = await run('pubsub-token', ['--put', 'a'], { PUBSUB_JWT_PRIVATE_JWK: out })
      expect(partsOf(minted.out)[0]).toEqual({ alg, typ: 'JWT', kid: 'k-1' })
    },
  )

  it('is ES256 with a random kid by default, a new one each time', async () => {
    const [one, two] = [await run('keys', ['generate']), await run('keys', ['generate'])]
    expect(load(one.out)).toMatchObject({
      alg: 'ES256',
      kid: expect.stringMatching(/^[0-9a-f]{16}$/),
    })
    expect(JSON.parse(one.out).kid).not.toBe(JSON.parse(two.out).kid)
  })

  it('--out keeps the private JWK off the terminal, for its owner only, and never overwrites', async () => {
    const file = join(folder, 'new.json')
    const { out } = await run('keys', ['generate', '--out', file])
    const written = readFileSync(file, 'utf8')
    expect(statSync(file).mode & 0o777).toBe(0o600)
    expect(load(written).kid).toBe(JSON.parse(out).kid)
    expect(out).not.toContain(JSON.parse(written).d)
    const again = await run('keys', ['generate', '--out', file])
    expect(again.code).toBe(1)
    expect(readFileSync(file, 'utf8')).toBe(written)
  })

  it.each([
    ['--alg', 'HS256'],
    ['--alg', 'none'],
    ['--kid', 'a/b'],
    ['--kid', ''],
  ])('refuses %s %j', async (flag, value) => {
    const { code, out } = await run('keys', ['generate', flag, value])
    expect([code, out]).toEqual([1, ''])
  })
})

describe('keys list, rotate and revoke', () => {
  let app: IssuerApp
  beforeAll(async () => {
    app = await startIssuer()
  })
  afterAll(() => app.close())
  const env = { PUBSUB_SERVICE_ROLE_KEY: SERVICE_KEY, PUBSUB_TOKEN_TTL_SEC: '120' }

  it('rotate registers the new key and prints the rest of the documented order', async () => {
    const args = ['rotate', '--url', app.url, '--alg', 'EdDSA', '--kid', 'fresh']
    const { code, out } = await run('keys', args, env)
    expect(code).toBe(0)
    const lines = out.trim().split('\n')
    expect(lines.map((line) => line.slice(0, 12))).toEqual([
      '1. done: pub',
      '2. wait 60 s',
      '3. set PUBSU',
      expect.stringMatching(/^\{"/),
      '4. wait 120 ',
      '5. hivegate ',
    ])
    expect(lines[5]).toBe(`5. hivegate keys revoke mint-1 --url ${app.url}`)
    expect(load(lines[3] ?? '')).toMatchObject({ kid: 'fresh', alg: 'EdDSA' })
    expect(app.issuer.registry.find('fresh')).toMatchObject({ alg: 'EdDSA' })
    expect(app.issuer.registry.find('mint-1')).toBeDefined()
  })

  it('list shows the active keys without any credential', async () => {
    const { out } = await run('keys', ['list', '--url', `${app.url}/`])
    expect(out).toMatch(/^mint-1 {2}ES256 {2}\d{4}-.*\nfresh {2}EdDSA {2}\d{4}-/)
  })

  it('revoke ends a key', async () => {
    const { code, out } = await runProcess('keys', ['revoke', 'fresh', '--url', app.url], env)
    expect([code, out]).toEqual([0, expect.stringContaining('revoked fresh')])
    expect(app.issuer.registry.isRevoked('fresh')).toBe(true)
  })

  it('the service key may come from a file', async () => {
    const file = join(folder, 'service-key')
    await writeFile(file, `${SERVICE_KEY}\n`)
    const args = ['rotate', '--url', app.url, '--service-key', `@${file}`, '--kid', 'filed']
    const out = join(folder, 'filed.json')
    const done = await run('keys', [...args, '--out', out])
    expect(done.code).toBe(0)
    expect(done.out).not.toContain(JSON.parse(readFileSync(out, 'utf8')).d)
    expect(app.issuer.registry.find('filed')).toBeDefined()
  })

  it.each<[string, string[], Record<string, string>]>([
    ['an unknown kid', ['revoke', 'ghost', '--url', 'URL'], env],
    ['no service key', ['revoke', 'mint-1', '--url', 'URL'], {}],
    [
      'a wrong service key',
      ['revoke', 'mint-1', '--url', 'URL'],
      { PUBSUB_SERVICE_ROLE_KEY: 'wrong-key' },
    ],
    ['nobody at the address', ['list', '--url', 'http://127.0.0.1:1'], env],
    ['no address', ['list'], env],
    ['an odd kid', ['revoke', 'a/b', '--url', 'URL'], env],
  ])('%s: exit code 1, one line on standard error', async (_what, args, vars) => {
    const filled = args.map((arg) => (arg === 'URL' ? app.url : arg))
    const { code, out, err } = await run('keys', filled, vars)
    expect([code, out]).toEqual([1, ''])
    expect(err).toMatch(/^error: .+\n$/)
    for (const hidden of [SERVICE_KEY, 'wrong-key']) expect(err).not.toContain(hidden)
    expect(app.issuer.registry.find('mint-1')).toBeDefined()
  })
})
