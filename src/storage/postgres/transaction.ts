import { StoreFailedError } from '../errors.ts'
import { isClash } from './errors.ts'
import type { PgPool, PooledClient } from './pool.ts'
import type { Tx } from './types.ts'

/** How often a transaction that lost a clash is run in all. */
const TRIES = 4

/** How a transaction begins. */
export interface TransactionKind {
  readonly begin: string
  /** Longest wait for each statement in ms where it differs from the usual one; 0 waits for ever. */
  readonly timeoutMs?: number
}

function txOf(client: PooledClient, { timeoutMs }: TransactionKind): Tx {
  const limit = timeoutMs === undefined ? {} : { timeoutMs }
  return {
    async rows<T>(name: string, sql: string, values: readonly unknown[] = []) {
      const result = await client.query({ name, sql, values, ...limit })
      // The columns are those that the caller's own SQL names.
      return result.rows as T[]
    },
    async script(sql) {
      await client.query({ sql, ...limit })
    },
  }
}

async function commit(client: PooledClient): Promise<void> {
  const { command } = await client.query({ sql: 'COMMIT' })
  // COMMIT of a transaction in which a statement failed is answered with ROLLBACK, and no error.
  if (command !== 'COMMIT') throw new StoreFailedError('the transaction had failed before')
}

async function once<T>(pool: PgPool, kind: TransactionKind, work: (tx: Tx) => Promise<T>) {
  const client = await pool.take()
  try {
    await client.query({ sql: kind.begin })
    const value = await work(txOf(client, kind))
    await commit(client)
    return value
  } catch (error) {
    // A failed ROLLBACK has marked the connection as broken; what went wrong first is the news.
    await client.query({ sql: 'ROLLBACK' }).catch(() => undefined)
    throw error
  } finally {
    client.release()
  }
}

/** Runs `work` between BEGIN and COMMIT, again when it lost a clash with another transaction. */
export async function inTransaction<T>(
  pool: PgPool,
  kind: TransactionKind,
  work: (tx: Tx) => Promise<T>,
): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await once(pool, kind, work)
    } catch (error) {
      if (tries >= TRIES || !isClash(error)) throw error
    }
  }
}
