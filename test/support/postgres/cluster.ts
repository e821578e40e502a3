import { execFile } from 'node:child_process'
import { chmodSync, chownSync, existsSync, mkdirSync, readdirSync } from 'node:fs'
import { mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir, userInfo } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { promisify } from 'node:util'

const run = promisify(execFile)

/** Debian's folder of server programs, one below it per version. */
const VERSIONS = '/usr/lib/postgresql'
const OLDEST = 15

/** The one role of a test cluster; a superuser of it. */
export const ROLE = 'hivegate'
export const PASSWORD = 'pässword/of:tests@' // needs escaping in a URL, on purpose

/** Where a running cluster is. */
export interface ClusterAddress {
  readonly folder: string
  readonly port: number
}

/** Folder of the server's programs. @throws Error that names the package when there is none */
export function serverPrograms(): string {
  const versions = existsSync(VERSIONS) ? readdirSync(VERSIONS).map(Number) : []
  const newest = Math.max(0, ...versions.filter((version) => version >= OLDEST))
  const folder = join(VERSIONS, String(newest), 'bin')
  if (!existsSync(join(folder, 'initdb'))) {
    throw new Error('these tests need PostgreSQL: install the Debian package "postgresql-15"')
  }
  return folder
}

async function idOf(flag: '-u' | '-g', name: string): Promise<number> {
  return Number((await run('id', [flag, name])).stdout)
}

/** The server refuses to run as root; Debian's package brings this user. */
const SERVER_USER = 'postgres'

/** Runs a program of the server, as another user when we are root. */
export async function asServer(program: string, args: readonly string[]): Promise<string> {
  const path = program.startsWith('/') ? program : join(serverPrograms(), program)
  const root = userInfo().uid === 0
  const command = root
    ? ['setpriv', `--reuid=${SERVER_USER}`, `--regid=${SERVER_USER}`, '--clear-groups', path]
    : [path]
  const [first = path, ...rest] = command
  const { stdout } = await run(first, [...rest, ...args], { cwd: tmpdir() })
  return stdout
}

/** A TCP port that nobody listens on. */
export async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  await new Promise((resolve) => server.close(resolve))
  if (address === null || typeof address === 'string') throw new Error('no port')
  return address.port
}

/** Makes a folder that the server's user may write. */
export async function serverFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'hivegate-pg-'))
  if (userInfo().uid === 0) {
    chownSync(folder, await idOf('-u', SERVER_USER), await idOf('-g', SERVER_USER))
  }
  chmodSync(folder, 0o755)
  return folder
}

const CONFIG = `
listen_addresses = '127.0.0.1,127.0.0.2'
max_connections = 300
log_min_messages = fatal
lc_messages = 'C'
timezone = 'UTC'
`

/**
 * The cluster of all suites may lose what it holds when the machine fails, never when the server does, so that
 * the suites do not wait for the disk.
 */
const FAST = 'fsync = off\nfull_page_writes = off\n'

/** Makes and starts a cluster in `folder`; password over TCP, unix socket in the folder. */
export async function startCluster(folder: string, settings = ''): Promise<ClusterAddress> {
  const data = join(folder, 'data')
  const passwordFile = join(folder, 'password')
  await writeFile(passwordFile, PASSWORD)
  await asServer('initdb', [
    ...['-D', data, '-U', ROLE, '--pwfile', passwordFile, '-A', 'scram-sha-256', '--no-sync'],
    ...['-E', 'UTF8', '--locale=C'],
  ])
  const address = { folder, port: await freePort() }
  await writeFile(
    join(data, 'postgresql.auto.conf'),
    `${CONFIG}${settings}port = ${address.port}\nunix_socket_directories = '${folder}'\n`,
  )
  await pgCtl(address, 'start')
  return address
}

/** Starts or stops a cluster. `immediate` is the server's own crash: no checkpoint, no goodbye. */
export async function pgCtl(
  { folder }: ClusterAddress,
  what: 'start' | 'stop',
  mode: 'fast' | 'immediate' = 'fast',
): Promise<void> {
  const place = ['-D', join(folder, 'data'), '-w', '-t', '60']
  const more = what === 'start' ? ['-l', join(folder, 'log')] : ['-m', mode]
  await asServer('pg_ctl', [what, ...place, ...more])
}

/** Stops a cluster, if it runs, and removes it. */
export async function removeCluster(folder: string): Promise<void> {
  if (existsSync(join(folder, 'data', 'postmaster.pid'))) {
    await pgCtl({ folder, port: 0 }, 'stop', 'immediate')
  }
  await rm(folder, { recursive: true, force: true })
}

/**
 * The cluster that all test files of one run share: the first that needs it starts it, so that a run without
 * database tests pays nothing.
 */
export async function sharedCluster(folder: string): Promise<ClusterAddress> {
  const ready = join(folder, 'ready.json')
  const failed = join(folder, 'failed')
  try {
    mkdirSync(join(folder, 'starting'))
  } catch {
    while (!existsSync(ready)) {
      if (existsSync(failed)) throw new Error(await readFile(failed, 'utf8'))
      await pause(20)
    }
    return JSON.parse(await readFile(ready, 'utf8')) as ClusterAddress
  }
  try {
    const address = await startCluster(folder, FAST)
    await writeFile(`${ready}.new`, JSON.stringify(address))
    await rename(`${ready}.new`, ready)
    return address
  } catch (error) {
    await writeFile(failed, String(error))
    throw error
  }
}
