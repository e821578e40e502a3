import { v4 } from 'uuid'
import { isClash } from './errors.ts'
import { PgListener } from './listener.ts'
import { migrate } from './migrate.ts'
import { PgPool, type PoolSettings } from './pool.ts'
import { inTransaction, type TransactionKind } from './transaction.ts'
import type { ChannelListener, PgHost, PgHostOptions, Statements } from './types.ts'

const POOL_SIZE = 10
const MAX_WAITING = 1000
const CONNECT_TIMEOUT_MS = 5000
const STATEMENT_TIMEOUT_MS = 30_000

function settingsOf(options: PgHostOptions): PoolSettings {
  return {
    pooler: options.pooler ?? false,
    poolSize: options.poolSize ?? POOL_SIZE,
    maxWaiting: options.maxWaiting ?? MAX_WAITING,
    connectTimeoutMs: options.connectTimeoutMs ?? CONNECT_TIMEOUT_MS,
    statementTimeoutMs: options.statementTimeoutMs ?? STATEMENT_TIMEOUT_MS,
    ...(options.onConnectionError && { onConnectionError: options.onConnectionError }),
  }
}

/** How transactions begin; behind a pooler the timeout cannot be one of the session. */
function kindsOf({ pooler, statementTimeoutMs }: PoolSettings) {
  const limit = pooler ? `; SET LOCAL statement_timeout = ${statementTimeoutMs}` : ''
  return {
    write: { begin: `BEGIN${limit}` },
    read: { begin: `BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY${limit}` },
    migration: { begin: 'BEGIN', timeoutMs: 0 },
  } satisfies Readonly<Record<string, TransactionKind>>
}

/** A statement in a transaction of its own, once more when it lost a clash. */
function statementsOn(pool: PgPool): Statements {
  async function rows<T>(name: string, sql: string, values: readonly unknown[] = []) {
    const client = await pool.take()
    try {
      // The columns are those that the caller's own SQL names.
      return (await client.query({ name, sql, values })).rows as T[]
    } finally {
      client.release()
    }
  }
  return {
    rows: <T>(name: string, sql: string, values?: readonly unknown[]) =>
      rows<T>(name, sql, values).catch((error: unknown) => {
        if (!isClash(error)) throw error
        return rows<T>(name, sql, values)
      }),
  }
}

function listenerOf(options: PgHostOptions, settings: PoolSettings): PgListener | undefined {
  const { target, listenTarget = target, onConnectionError } = options
  if (listenTarget === null) return undefined
  const { connectTimeoutMs } = settings
  return new PgListener({
    ...{ target: listenTarget, connectTimeoutMs },
    onConnectionError: (error) => onConnectionError?.(error, 'listen'),
  })
}

/**
 * Connects to the database and brings the tables of all modules up to date.
 * @throws StoreUnavailableError when it cannot be reached; StoreSchemaError for a newer schema or an old server
 */
export async function openPostgresHost(options: PgHostOptions): Promise<PgHost> {
  const settings = settingsOf(options)
  const kinds = kindsOf(settings)
  const pool = new PgPool(options.target, settings)
  const { rows } = statementsOn(pool)
  try {
    await inTransaction(pool, kinds.migration, (tx) => migrate(tx, options))
  } catch (error) {
    await pool.close()
    throw error
  }
  const listener = listenerOf(options, settings)
  return {
    instance: v4(),
    rows,
    transaction: (work) => inTransaction(pool, kinds.write, work),
    snapshot: (work) => inTransaction(pool, kinds.read, work),
    async notify(channel, payload) {
      await rows('notify', 'SELECT pg_notify($1, $2)', [channel, payload])
    },
    listen: (channel: string, heard: ChannelListener) =>
      listener?.listen(channel, heard) ?? (() => undefined),
    async ping() {
      // A full pool is no outage: a broker at its limit must not be taken for one without a database.
      if (!pool.isBusyAndAnswered()) await rows('ping', 'SELECT 1')
    },
    async close() {
      await listener?.close()
      await pool.close()
    },
  }
}
