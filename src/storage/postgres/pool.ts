import pg from 'pg'
import { Backoff } from '../backoff.ts'
import { StoreBusyError, StoreClosedError, StoreUnavailableError } from '../errors.ts'
import { endsConnection, storeError } from './errors.ts'
import { TYPES } from './parsers.ts'
import type { PgHostOptions, PgTarget } from './types.ts'

/** The settings of a pool, complete. */
export type PoolSettings = Required<
  Pick<
    PgHostOptions,
    'pooler' | 'poolSize' | 'maxWaiting' | 'connectTimeoutMs' | 'statementTimeoutMs'
  >
> &
  Pick<PgHostOptions, 'onConnectionError'>

/** One statement; `name` is left out for a script of several. */
export interface Statement {
  readonly name?: string
  readonly sql: string
  readonly values?: readonly unknown[]
  /** Longest wait in ms where it differs from the usual one; 0 waits for ever. */
  readonly timeoutMs?: number
}

/** A connection taken out of the pool. */
export interface PooledClient {
  /** @throws StoreError */
  query(statement: Statement): Promise<pg.QueryResult>
  /** Gives the connection back; one that has failed is closed instead. */
  release(): void
}

/** How long after the server should have ended a statement the connection is given up. */
const GRACE_MS = 5000
/** How long a connection that nobody uses is kept. */
const IDLE_MS = 30_000
/** While the database is away only so many attempts are made; the calls in between fail at once. */
const FIRST_PAUSE_MS = 50
const LONGEST_PAUSE_MS = 1000

/** What `pg` is told about a connection, whatever it is for. */
export function clientConfig(target: PgTarget): pg.ClientConfig {
  const { host, port, database, user, password, tls } = target
  return {
    host,
    port,
    database,
    user,
    ...(password === undefined ? {} : { password }),
    ssl: tls,
    keepAlive: true,
    types: TYPES,
  }
}

// A pooler hands the session on to others: only what travels with a statement may be set there.
function sessionSettings(settings: PoolSettings): pg.ClientConfig {
  if (settings.pooler) return {}
  return {
    statement_timeout: settings.statementTimeoutMs,
    idle_in_transaction_session_timeout: settings.statementTimeoutMs + GRACE_MS,
    // Our statements are short; compiling one costs more than it saves.
    options: '-c jit=off',
  }
}

/** A server that answered no longer ago than this counts as there, when no connection is free to ask it. */
const FRESH_MS = 5000

/**
 * The connections of one host: a bounded number, a bounded line in front of them, and no storm of attempts while
 * the database is away.
 */
export class PgPool {
  readonly #pool: pg.Pool
  readonly #settings: PoolSettings
  readonly #pause = new Backoff(FIRST_PAUSE_MS, LONGEST_PAUSE_MS)
  #blockedUntilMs = 0
  #lastFailure: unknown
  /** When a statement was last answered; nothing counts any more once a connection has failed. */
  #answeredMs = Number.NEGATIVE_INFINITY
  #closed = false

  constructor(target: PgTarget, settings: PoolSettings) {
    this.#settings = settings
    this.#pool = new pg.Pool({
      ...clientConfig(target),
      ...sessionSettings(settings),
      application_name: 'hivegate',
      max: settings.poolSize,
      connectionTimeoutMillis: settings.connectTimeoutMs,
      idleTimeoutMillis: IDLE_MS,
    })
    const report = (error: Error) => settings.onConnectionError?.(error, 'pool')
    this.#pool.on('error', report)
    // A connection that dies while it is out fails its statement as well; unheard, the event would end the process.
    this.#pool.on('connect', (client) => client.on('error', () => undefined))
  }

  /** True when every connection is at work and the server has answered on one of them within the last seconds. */
  isBusyAndAnswered(): boolean {
    const { totalCount, idleCount } = this.#pool
    const isFull = totalCount >= this.#settings.poolSize && idleCount === 0
    return isFull && performance.now() - this.#answeredMs < FRESH_MS
  }

  /** Takes a connection. @throws StoreBusyError, StoreUnavailableError, StoreClosedError */
  async take(): Promise<PooledClient> {
    if (this.#closed) throw new StoreClosedError()
    if (this.#pool.waitingCount >= this.#settings.maxWaiting) throw new StoreBusyError()
    if (this.#pool.idleCount === 0 && performance.now() < this.#blockedUntilMs) {
      throw new StoreUnavailableError({ cause: this.#lastFailure })
    }
    return this.#clientOf(await this.#connect())
  }

  async #connect(): Promise<pg.PoolClient> {
    const waits = this.#pool.totalCount >= this.#settings.poolSize
    try {
      const client = await this.#pool.connect()
      this.#pause.reset()
      this.#blockedUntilMs = 0
      return client
    } catch (cause) {
      if (waits && isWaitTimeout(cause)) throw new StoreBusyError({ cause })
      this.#lastFailure = cause
      this.#answeredMs = Number.NEGATIVE_INFINITY
      this.#blockedUntilMs = performance.now() + this.#pause.next()
      throw storeError(cause)
    }
  }

  #clientOf(client: pg.PoolClient): PooledClient {
    let broken = false
    const usualMs = this.#settings.statementTimeoutMs + GRACE_MS
    return {
      query: async ({ name, sql, values, timeoutMs = usualMs }) => {
        const named = name !== undefined && !this.#settings.pooler ? { name } : {}
        const config = { text: sql, ...named, query_timeout: timeoutMs }
        try {
          const answer = await client.query(
            values === undefined ? config : { ...config, values: [...values] },
          )
          this.#answeredMs = performance.now()
          return answer
        } catch (error) {
          broken ||= endsConnection(error)
          if (broken) this.#answeredMs = Number.NEGATIVE_INFINITY
          throw storeError(error)
        }
      },
      release: () => client.release(broken),
    }
  }

  /** Waits for the connections that are out, then closes all. */
  async close(): Promise<void> {
    if (this.#closed) return
    this.#closed = true
    await this.#pool.end()
  }
}

/** The text of pg-pool for a call that waited for a connection in vain. */
function isWaitTimeout(error: unknown): boolean {
  return error instanceof Error && error.message === 'timeout exceeded when trying to connect'
}
