import { existsSync } from 'node:fs'
import { readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { afterAll } from 'vitest'
import type { PgHostOptions, PgTarget } from '../../../src/storage/index.ts'
import { queryOn, type TestDatabase } from '../postgres.ts'
import { asServer, freePort, PASSWORD, ROLE, serverFolder } from './cluster.ts'

const PROGRAM = '/usr/sbin/pgbouncer'

/** A running pgbouncer in transaction mode. */
export interface TestPooler {
  /** The same database by way of the pooler. */
  readonly target: PgTarget
  stop(): Promise<void>
}

/** Fewer than a broker opens towards it, so that sessions really are handed on. */
const SERVER_CONNECTIONS = 4

function settings(folder: string, port: number, behind: PgTarget): string {
  return `[databases]
* = host=${behind.host} port=${behind.port}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = scram-sha-256
auth_file = ${join(folder, 'users')}
pool_mode = transaction
default_pool_size = ${SERVER_CONNECTIONS}
max_client_conn = 500
logfile = ${join(folder, 'log')}
pidfile = ${join(folder, 'pid')}
`
}

async function untilUp(target: PgTarget): Promise<void> {
  for (;;) {
    try {
      await queryOn(target, 'SELECT 1')
      return
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'ECONNREFUSED')) throw error
      await pause(20)
    }
  }
}

/** Starts Debian's pgbouncer in front of a database. @throws Error that names the package when there is none */
export async function startPooler(behind: PgTarget): Promise<TestPooler> {
  if (!existsSync(PROGRAM)) throw new Error('these tests need the Debian package "pgbouncer"')
  const folder = await serverFolder()
  const port = await freePort()
  await writeFile(join(folder, 'users'), `"${ROLE}" "${PASSWORD}"\n`)
  await writeFile(join(folder, 'ini'), settings(folder, port, behind))
  await asServer(PROGRAM, ['--quiet', '--daemon', join(folder, 'ini')])
  const target = { ...behind, host: '127.0.0.1', port }
  await untilUp(target)
  return {
    target,
    async stop() {
      process.kill(Number(await readFile(join(folder, 'pid'), 'utf8')), 'SIGINT')
      while (existsSync(join(folder, 'pid'))) await pause(10)
      await rm(folder, { recursive: true, force: true })
    },
  }
}

/**
 * For one test file: how hosts are opened through a pooler before the cluster of the run; only LISTEN goes past it.
 * Call it before what opens hosts, so that the pooler ends after them.
 */
export function throughPooler(): (database: TestDatabase) => Promise<Partial<PgHostOptions>> {
  let starting: Promise<TestPooler> | undefined
  afterAll(async () => (await starting)?.stop())
  return async ({ target }) => {
    starting ??= startPooler(target)
    const { host, port } = (await starting).target
    return { target: { ...target, host, port }, listenTarget: target, pooler: true }
  }
}
