import { z } from 'zod'
import { type DatabaseUrl, databaseUrl } from './database-url.ts'
import { duration, flag, integer, text } from './kinds.ts'
import { type Kind, type Settings, secret, variable } from './variable.ts'

/** A wait that has to end: no zero, and no longer than ten minutes. */
const limit: Kind<number> = {
  schema: duration.schema.pipe(z.number().min(1).max(600_000)),
  accepts: 'a duration from 1ms to 10m (a bare number means seconds)',
}

/** Where a PostgreSQL store is, and how long the broker waits for it. */
export const DATABASE_VARIABLES = {
  url: secret(
    'DATABASE_URL',
    databaseUrl,
    undefined,
    'PostgreSQL database (15 or later) that keeps the data instead of DATA_DIR; brokers may share it',
  ),
  listenUrl: secret(
    'DATABASE_LISTEN_URL',
    databaseUrl,
    undefined,
    'Way to the same database past a transaction-mode pooler, for the one connection that listens; unset: DATABASE_URL',
  ),
  pooler: variable(
    'DATABASE_POOLER',
    flag,
    false,
    'DATABASE_URL leads to a transaction-mode pooler: nothing is kept in a session',
  ),
  poolSize: variable(
    'DATABASE_POOL_SIZE',
    integer(4, 500),
    10,
    'Most connections of this process to the database, the listening one apart',
  ),
  connectTimeoutMs: variable(
    'DATABASE_CONNECT_TIMEOUT',
    limit,
    5000,
    'Longest wait for a connection; then the answer is 503',
  ),
  statementTimeoutMs: variable(
    'DATABASE_STATEMENT_TIMEOUT',
    limit,
    30_000,
    'Longest single statement; then the answer is 503',
  ),
  spillDir: variable(
    'OUTAGE_SPILL_DIR',
    text,
    '',
    'Folder of this process alone where pushes wait while the database is away; unset: they are answered 503',
  ),
  spillMaxBytes: variable(
    'OUTAGE_SPILL_MAX_BYTES',
    integer(4096, 1_099_511_627_776),
    1_073_741_824,
    'Most bytes of that folder; then pushes are answered 503',
  ),
} as const

/** The settings of the PostgreSQL store; frozen. */
export type DatabaseConfig = Settings<typeof DATABASE_VARIABLES>

const LOOPBACK = /^(\/|localhost$|127\.|::1$)/

function urlWarnings(name: string, url: DatabaseUrl | undefined): readonly string[] {
  if (url === undefined) return []
  const warnings = url.ignored.map((parameter) => `${name}: its parameter ${parameter} is ignored`)
  if (url.tlsMode === 'disable' && !LOOPBACK.test(url.host)) {
    warnings.push(`${name}: the connection is not encrypted; add sslmode=verify-full`)
  }
  if (url.tlsMode === 'require' && url.rootCertFile === '') {
    warnings.push(`${name}: sslmode=require believes any certificate; use verify-full`)
  }
  return warnings
}

/** Settings that work but are not safe, or do less than their owner may think. Never repeats a URL. */
export function databaseWarnings(settings: DatabaseConfig): readonly string[] {
  const { url, listenUrl, pooler, spillDir } = settings
  const unused =
    url === undefined && spillDir !== ''
      ? ['OUTAGE_SPILL_DIR: without DATABASE_URL it does nothing; the embedded store is never away']
      : []
  const unheard =
    url !== undefined && pooler && listenUrl === undefined
      ? [
          'DATABASE_LISTEN_URL: without it nothing is heard past the pooler; ' +
            'brokers learn of each other’s work by looking about once a second',
        ]
      : []
  return [
    ...urlWarnings(DATABASE_VARIABLES.url.name, url),
    ...urlWarnings(DATABASE_VARIABLES.listenUrl.name, listenUrl),
    ...unheard,
    ...unused,
  ]
}
