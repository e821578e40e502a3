import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import net from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { runHivegate, startChildBroker } from '../../support/child-broker.ts'
import { dropStore } from '../../support/test-store.ts'

let dataDir = ''
beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'hivegate-boot-'))
})
afterEach(async () => {
  await dropStore(dataDir)
  await rm(dataDir, { recursive: true, force: true })
})

describe('hivegate serve with a wrong environment', () => {
  it('names every wrong variable in one line each on stderr, binds nothing and exits 1', async () => {
    const port = 6632
    const { code, stdout, stderr } = await runHivegate(['serve'], {
      DATA_DIR: dataDir,
      PORT: String(port),
      JWT_ENABLED: 'maybe',
      JWT_CLOCK_SKEW: '-1',
      LOG_LEVEL: 'loud',
      QUEEN_ENCRYPTION_KEY: 'not-hex-and-secret',
    })
    expect(code).toBe(1)
    expect(stdout).toBe('')
    const lines = stderr.trimEnd().split('\n')
    expect(lines.map((line) => line.split(':')[0])).toEqual([
      'LOG_LEVEL',
      'JWT_ENABLED',
      'JWT_CLOCK_SKEW',
      'QUEEN_ENCRYPTION_KEY',
    ])
    expect(stderr).not.toContain('not-hex-and-secret')
  })

  it('refuses an algorithm whose key material is missing', async () => {
    const { code, stderr } = await runHivegate(['serve'], {
      DATA_DIR: dataDir,
      JWT_ENABLED: 'true',
      JWT_ALGORITHM: 'RS256',
    })
    expect([code, stderr.trimEnd().split('\n')]).toEqual([
      1,
      [expect.stringContaining('JWT_PUBLIC_KEY or JWT_JWKS_URL')],
    ])
  })

  it('says in one line that the port is taken', async () => {
    const server = net.createServer().listen(0, '127.0.0.1')
    await new Promise((resolve) => server.once('listening', resolve))
    const address = server.address()
    const port = typeof address === 'object' ? String(address?.port) : ''
    const { code, stderr } = await runHivegate(['serve'], {
      DATA_DIR: dataDir,
      HOST: '127.0.0.1',
      PORT: port,
    })
    server.close()
    expect([code, stderr]).toEqual([
      1,
      `PORT: another process already listens there (127.0.0.1:${port})\n`,
    ])
  })
})

describe('hivegate serve', () => {
  it('reads .env of the working folder, which the environment overrides', async () => {
    await writeFile(join(dataDir, '.env'), `JWT_ENABLED=maybe\nLOG_LEVEL=loud\n`)
    const { code, stderr } = await runHivegate(['serve'], { LOG_LEVEL: 'info' }, dataDir)
    expect([code, stderr]).toEqual([1, expect.stringMatching(/^JWT_ENABLED: got "maybe"/)])
    expect(stderr).not.toContain('LOG_LEVEL')
  })

  it('says in one line that .env cannot be read', async () => {
    await mkdir(join(dataDir, '.env'))
    const { code, stderr } = await runHivegate(['serve'], {}, dataDir)
    expect([code, stderr]).toEqual([1, expect.stringMatching(/^\.env: cannot be read \(\w+\)\n$/)])
  })

  it('logs boot lines as JSON: unknown variables, the gate, the address', async () => {
    const broker = await startChildBroker({
      DATA_DIR: dataDir,
      JWT_ENABLED: '1',
      JWT_SECRET: 'a-secret-of-more-than-32-characters',
      JWT_ISSUERR: 'x',
    })
    broker.signal('SIGTERM')
    const { code, stdout, stderr } = await broker.exited
    expect([code, stderr]).toEqual([0, ''])
    const lines = stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line))
    expect(lines).toContainEqual(
      expect.objectContaining({
        level: 'warn',
        msg: expect.stringMatching(/JWT_ISSUERR.*JWT_ISSUER/),
      }),
    )
    expect(lines).toContainEqual(
      expect.objectContaining({
        msg: 'JWT auth ENABLED',
        algorithm: 'HS256',
        skipPaths: ['/health', '/metrics/prometheus', '/metrics', '/'],
      }),
    )
    expect(lines).toContainEqual(expect.objectContaining({ msg: 'listening', port: broker.port }))
    expect(stdout).not.toContain('a-secret-of-more')
  })
})

describe('the command line', () => {
  it('prints its version and its commands', async () => {
    const version = await runHivegate(['--version'])
    expect([version.code, version.stdout]).toEqual([0, expect.stringMatching(/^\d+\.\d+\.\d+\n$/)])
    const help = await runHivegate(['--help'])
    expect(help.code).toBe(0)
    for (const command of ['serve', 'token', 'explain']) expect(help.stdout).toContain(command)
  })

  it('writes nothing on standard error when all is well', async () => {
    const minted = await runHivegate(['mercure-token', '--dev'])
    expect([minted.code, minted.stderr]).toEqual([0, ''])
  })

  it('fails with one line for an unknown command or option', async () => {
    for (const args of [['srve'], ['serve', '--prot', '1']]) {
      const { code, stdout, stderr } = await runHivegate(args)
      expect([code === 0, stdout]).toEqual([false, ''])
      expect(stderr).toMatch(/^error: unknown (command|option)/)
    }
  })
})
