import pg from 'pg'
import type { PgTarget } from '../../../src/storage/index.ts'
import { type ClusterAddress, PASSWORD, ROLE } from './cluster.ts'

/** The address of a database of a cluster. */
export function targetOn({ port }: ClusterAddress, database: string): PgTarget {
  return { host: '127.0.0.1', port, database, user: ROLE, password: PASSWORD, tls: false }
}

/** A target as `DATABASE_URL`. */
export function urlOf({ host, port, database, user, password = '' }: PgTarget): string {
  return `postgres://${user}:${encodeURIComponent(password)}@${host}:${port}/${database}`
}

/** Runs one statement on a connection of its own. */
export async function queryOn(target: PgTarget, sql: string, values: unknown[] = []) {
  const { host, port, database, user, password } = target
  const client = new pg.Client({ host, port, database, user, ...(password && { password }) })
  // A server that is stopped in the middle fails the query as well.
  client.on('error', () => undefined)
  await client.connect()
  try {
    const { rows } = await client.query(sql, values)
    return rows as Record<string, unknown>[]
  } finally {
    await client.end()
  }
}
