import pg from 'pg'
import { Backoff } from '../backoff.ts'
import { clientConfig } from './pool.ts'
import type { ChannelListener, PgTarget } from './types.ts'

/** Pause after the first lost connection, and the longest one. */
const FIRST_PAUSE_MS = 100
const LONGEST_PAUSE_MS = 5000
/** How often a silent connection is asked whether it still lives: a cut cable says nothing. */
const PROBE_MS = 15_000
const PROBE_TIMEOUT_MS = 5000

/** How the listening connection is made. */
export interface PgListenerOptions {
  readonly target: PgTarget
  readonly connectTimeoutMs: number
  readonly onConnectionError?: ((error: Error) => void) | undefined
}

/** The one connection that hears notifications; it is opened with the first channel and comes back by itself. */
export class PgListener {
  readonly #options: PgListenerOptions
  readonly #channels = new Map<string, Set<ChannelListener>>()
  readonly #pause = new Backoff(FIRST_PAUSE_MS, LONGEST_PAUSE_MS)
  #client: pg.Client | undefined
  #ready = false
  #retry: NodeJS.Timeout | undefined
  #probe: NodeJS.Timeout | undefined
  #closed = false

  constructor(options: PgListenerOptions) {
    this.#options = options
  }

  /** Hears a channel; answers how to stop. */
  listen(channel: string, listener: ChannelListener): () => void {
    const listeners = this.#channels.get(channel) ?? new Set()
    this.#channels.set(channel, listeners.add(listener))
    if (this.#ready) void this.#enforce([channel])
    else if (this.#client === undefined && this.#retry === undefined) this.#connect()
    return () => void listeners.delete(listener)
  }

  /** Ends the connection for good. */
  async close(): Promise<void> {
    this.#closed = true
    clearTimeout(this.#retry)
    clearInterval(this.#probe)
    const client = this.#client
    this.#client = undefined
    this.#ready = false
    await client?.end().catch(() => undefined)
  }

  #connect(): void {
    this.#retry = undefined
    if (this.#closed) return
    const client = new pg.Client({
      ...clientConfig(this.#options.target),
      application_name: 'hivegate listen',
      connectionTimeoutMillis: this.#options.connectTimeoutMs,
      query_timeout: PROBE_TIMEOUT_MS,
    })
    this.#client = client
    client.on('error', (error) => this.#lost(client, error))
    client.on('end', () => this.#lost(client))
    client.on('notification', ({ channel, payload = '' }) => {
      for (const listener of this.#channels.get(channel) ?? []) listener.heard(payload)
    })
    client.connect().then(
      () => this.#connected(client),
      (error: Error) => this.#lost(client, error),
    )
  }

  #connected(client: pg.Client): void {
    if (client !== this.#client) return
    this.#ready = true
    this.#pause.reset()
    this.#probe = setInterval(() => {
      client.query('SELECT 1').catch((error: Error) => this.#lost(client, error))
    }, PROBE_MS)
    void this.#enforce([...this.#channels.keys()])
  }

  /** Sends LISTEN and tells the listeners of these channels when it is in force. */
  async #enforce(channels: readonly string[]): Promise<void> {
    const client = this.#client
    if (client === undefined) return
    try {
      await client.query(channels.map((name) => `LISTEN ${pg.escapeIdentifier(name)}`).join(';'))
    } catch (error) {
      this.#lost(client, error)
      return
    }
    for (const channel of channels) {
      for (const listener of this.#channels.get(channel) ?? []) listener.restored()
    }
  }

  #lost(client: pg.Client, error?: unknown): void {
    if (client !== this.#client) return
    this.#client = undefined
    this.#ready = false
    clearInterval(this.#probe)
    client.end().catch(() => undefined)
    if (error instanceof Error) this.#options.onConnectionError?.(error)
    if (!this.#closed) this.#retry = setTimeout(() => this.#connect(), this.#pause.next())
  }
}
