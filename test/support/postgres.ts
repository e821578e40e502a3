import { inject } from 'vitest'
import {
  openPostgresHost,
  type PgHost,
  type PgHostOptions,
  type PgModule,
  type PgTarget,
} from '../../src/storage/index.ts'
import { type ClusterAddress, sharedCluster } from './postgres/cluster.ts'
import { queryOn, targetOn, urlOf } from './postgres/target.ts'

export { queryOn, targetOn, urlOf }

/** A database of its own for one test or test file. */
export interface TestDatabase {
  readonly target: PgTarget
  /** As `DATABASE_URL`. */
  readonly url: string
  /** Runs one statement on a connection of its own. */
  query(sql: string, values?: unknown[]): Promise<Record<string, unknown>[]>
  /** Ends every connection to it, and removes it. */
  drop(): Promise<void>
}

let made = 0

/** Makes an empty database on `cluster`; on the one that the run shares if none is given. */
export async function createDatabase(cluster?: ClusterAddress): Promise<TestDatabase> {
  const address = cluster ?? (await sharedCluster(inject('postgresFolder')))
  made += 1
  const name = `t_${process.pid}_${Date.now().toString(36)}_${made}`
  const admin = targetOn(address, 'postgres')
  await queryOn(admin, `CREATE DATABASE ${name} TEMPLATE template0`)
  const target = targetOn(address, name)
  return {
    target,
    url: urlOf(target),
    query: (sql, values) => queryOn(target, sql, values),
    async drop() {
      await queryOn(admin, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`)
    },
  }
}

/** A host on a database of its own; `drop` closes it and removes the database. */
export interface TestHost {
  readonly host: PgHost
  readonly database: TestDatabase
  drop(): Promise<void>
}

/** Opens a host with these modules on a fresh database. */
export async function openTestHost(
  modules: readonly PgModule[],
  options: Partial<PgHostOptions> = {},
): Promise<TestHost> {
  const database = await createDatabase()
  const host = await openPostgresHost({ target: database.target, modules, ...options })
  return {
    host,
    database,
    async drop() {
      await host.close()
      await database.drop()
    },
  }
}
