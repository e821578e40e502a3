import type { PgTarget } from '../../src/storage/index.ts'
import {
  type ClusterAddress,
  removeCluster,
  serverFolder,
  startCluster,
} from '../../test/support/postgres/cluster.ts'
import { queryOn, targetOn, urlOf } from '../../test/support/postgres/target.ts'
import { SERVER_SETTINGS } from './setting.ts'

/** A database of its own on the bench's server. */
export interface BenchDatabase {
  readonly target: PgTarget
  /** As `DATABASE_URL`. */
  readonly url: string
  /** Brings the planner's statistics up to date, so that nobody runs on those of empty tables. */
  analyze(): Promise<void>
}

/** A private PostgreSQL server that waits for the disk at every commit, as in production. */
export interface BenchServer {
  /** Version and settings in one line. */
  readonly about: string
  createDatabase(name: string): Promise<BenchDatabase>
  stop(): Promise<void>
}

async function aboutOf(address: ClusterAddress): Promise<string> {
  const [row] = await queryOn(
    targetOn(address, 'postgres'),
    `SELECT current_setting('server_version') AS version, current_setting('fsync') AS fsync,
       current_setting('synchronous_commit') AS commit, current_setting('shared_buffers') AS buffers`,
  )
  return `PostgreSQL ${row?.['version']}, fsync ${row?.['fsync']}, synchronous_commit ${row?.['commit']}, shared_buffers ${row?.['buffers']}`
}

/** Starts a server with a data folder and a port of its own; never as root. */
export async function startPostgres(): Promise<BenchServer> {
  const folder = await serverFolder()
  const stop = () => removeCluster(folder)
  try {
    const address = await startCluster(folder, SERVER_SETTINGS)
    return {
      about: await aboutOf(address),
      async createDatabase(name) {
        await queryOn(targetOn(address, 'postgres'), `CREATE DATABASE ${name} TEMPLATE template0`)
        const target = targetOn(address, name)
        const analyze = async () => {
          await queryOn(target, 'ANALYZE')
        }
        return { target, url: urlOf(target), analyze }
      },
      stop,
    }
  } catch (error) {
    await stop()
    throw error
  }
}
