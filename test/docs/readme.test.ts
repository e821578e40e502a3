import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { callerOf, JWT_ON, lastingToken } from '../support/broker.ts'
import { type ChildBroker, startChildBroker } from '../support/child-broker.ts'
import { dropStore, storeSettings } from '../support/test-store.ts'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
const run = promisify(execFile)
const readme = await readFile(join(ROOT, 'README.md'), 'utf8')

interface Block {
  readonly info: string
  readonly code: string
}

const blocks: readonly Block[] = [...readme.matchAll(/^```(\S.*)\n([\s\S]*?)^```$/gm)].map(
  ([, info = '', code = '']) => ({ info, code }),
)
const blocksOf = (info: string) => blocks.filter((block) => block.info === info)

let dir = ''
let open: ChildBroker
let guarded: ChildBroker
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'hivegate-readme-'))
  await symlink(join(ROOT, 'node_modules'), join(dir, 'node_modules'))
  open = await startChildBroker({ DATA_DIR: join(dir, 'open') })
  guarded = await startChildBroker({ DATA_DIR: join(dir, 'guarded'), ...JWT_ON })
})
afterAll(async () => {
  for (const broker of [open, guarded]) {
    broker.signal('SIGTERM')
    await broker.exited
  }
  for (const name of ['open', 'guarded', 'own']) await dropStore(join(dir, name))
  await rm(dir, { recursive: true, force: true })
})

/** Runs shell lines as a reader would, with `npx hivegate` standing for this checkout. */
async function shell(code: string, broker: ChildBroker): Promise<readonly string[]> {
  const lines = code.replaceAll('localhost:6632', `127.0.0.1:${broker.port}`)
  const npx = `npx() { "${process.execPath}" "${ROOT}bin/hivegate.js" "\${@:2}"; }`
  const script = `set -euo pipefail\n${npx}\n${lines}`
  const { stdout } = await run('bash', ['-c', script], {
    cwd: dir,
    env: { PATH: process.env['PATH'] ?? '', ...JWT_ON },
  })
  return stdout.split('\n')
}

const TELL_PORT = `
server.on('listening', () => console.log('listening on ' + server.address().port))
`

/** Starts a program of the README with the package's names standing for this checkout. */
async function program(code: string, env: Record<string, string>) {
  const file = join(dir, `program-${Math.random().toString(36).slice(2)}.mjs`)
  const source = (name: string) => pathToFileURL(join(ROOT, 'src', name)).href
  const text = code
    .replace("'hivegate/auth'", `'${source('auth.ts')}'`)
    .replace("'hivegate'", `'${source('index.ts')}'`)
    .replace('app.listen(', 'export const server = app.listen(')
  await writeFile(file, `${text}\n${text.includes('const server') ? TELL_PORT : ''}`)
  const child = spawn(process.execPath, [file], {
    cwd: dir,
    env: { NODE_ENV: 'production', ...env },
  })
  let output = ''
  const exited = once(child, 'close')
  child.stderr.on('data', (chunk: Buffer) => {
    output += chunk.toString()
  })
  const ready = new Promise<string>((resolve, reject) => {
    child.stdout.on('data', (chunk: Buffer) => {
      output += chunk.toString()
      const port = /^listening on (\d+)$/m.exec(output)?.[1]
      if (port !== undefined) resolve(port)
    })
    exited.then(() => reject(new Error(output)), reject)
  })
  const port = await ready
  return { call: callerOf(`http://127.0.0.1:${port}`), child, exited }
}

describe('the README', () => {
  it('opens with ten words', () => {
    const words = [...readme.matchAll(/^\| \*\*([a-z ]+)\*\* +\|/gm)]
    expect(words).toHaveLength(10)
  })

  it('links to files that exist', async () => {
    for (const [, target = ''] of readme.matchAll(/\]\((?!https?:)([^)#]+)\)/g)) {
      await expect(readFile(join(ROOT, target))).resolves.toBeDefined()
    }
  })

  it('quick start: the calls work as written', async () => {
    const [pushAndPop] = blocksOf('bash').filter((block) => block.code.includes('curl'))
    const [line = ''] = await shell(pushAndPop?.code ?? '', open)
    expect(line).toContain('"status":"queued"')
    expect(line).toContain('"data":{"order":1}')
  })

  it('tokens: mint, explain and push work as written', async () => {
    const [tokens] = blocksOf('bash tokens')
    const lines = await shell(tokens?.code ?? '', guarded)
    expect(lines).toContain('allowed (role_held)')
    expect(lines.at(-1)).toContain('"status":"queued"')
  })

  it('the gate in an app of one’s own works as written', async () => {
    const [gate] = blocksOf('js').filter((block) => block.code.includes('brokerAuth'))
    const { call, child, exited } = await program(gate?.code ?? '', { PORT: '0', ...JWT_ON })
    expect((await call('GET /ping')).status).toBe(200)
    expect((await call('GET /reports/today')).status).toBe(401)
    const reader = lastingToken('read-only', 'reader')
    // Express's own JSON type has a charset, so the body comes as text.
    const { body } = await call('GET /reports/today', { token: reader })
    expect(JSON.parse(body)).toEqual({ for: 'reader', roles: ['read-only'] })
    expect((await call('GET /nowhere', { token: reader })).status).toBe(403)
    child.kill()
    await exited
  })

  it('the broker in a process of one’s own works as written and stops at SIGTERM', async () => {
    const [broker] = blocksOf('js').filter((block) => block.code.includes('startBroker'))
    const dataDir = join(dir, 'own')
    const place = { DATA_DIR: dataDir, ...(await storeSettings(dataDir)) }
    const env = { PORT: '0', HOST: '127.0.0.1', ...place }
    const { call, child, exited } = await program(broker?.code ?? '', env)
    expect((await call('GET /health')).status).toBe(200)
    child.kill('SIGTERM')
    expect((await exited)[0]).toBe(0)
  })

  it('names only commands that exist', async () => {
    const named = [...readme.matchAll(/hivegate (serve|token|explain|[a-z-]+-token|keys)\b/g)]
    const { stdout } = await run(process.execPath, [join(ROOT, 'bin/hivegate.js'), '--help'])
    for (const [, command = ''] of named) expect(stdout).toContain(command)
  })
})
