import { hostname } from 'node:os'
import type { Express } from 'express'
import { createApp } from '../app.ts'
import type { Config } from '../config/index.ts'
import { createListener, type Logger } from '../http/index.ts'
import { openIssuer } from '../issuer/index.ts'
import type { QueueEngine } from '../queue/index.ts'
import { listen } from './listen.ts'
import { closeListener } from './shutdown.ts'
import { openQueue } from './stores.ts'

export { BootError } from './boot-error.ts'

/** What a broker is given besides its configuration. */
export interface BrokerOptions {
  readonly log: Logger
  /** Current time in ms since 1970. */
  readonly clock?: { now(): number }
}

/** A running broker. */
export interface Broker {
  /** The port it listens on. */
  readonly port: number
  readonly app: Express
  readonly engine: QueueEngine
  /**
   * Drains and stops: no new connections, waiting pops are answered with nothing, answers in progress go out,
   * writes in flight are committed, the store is closed. Connections that take longer than the drain time are cut.
   */
  stop(): Promise<void>
}

/**
 * Opens the store, assembles the app and listens. What was opened is closed again when a later step fails.
 * @throws StoreError for a store that cannot be opened, RouteTableError, BootError,
 * ConfigError for a minting key whose kid stands for another key
 */
export async function startBroker(config: Config, options: BrokerOptions): Promise<Broker> {
  const { log, clock = Date } = options
  const opened = new AsyncDisposableStack()
  try {
    const { engine, store, issuerStore, close } = await openQueue(config, { log, clock })
    opened.defer(close)
    const issuer = await openIssuer({ config: config.pubsub, store: issuerStore, log, clock })
    opened.defer(() => issuer.close())
    const host = hostname()
    const workerId = config.queue.workerId || `${host}-${process.pid}`
    const { app, auth } = createApp({
      config,
      engine,
      issuer,
      log,
      store,
      clock,
      workerId,
      hostname: host,
    })
    opened.defer(() => auth.close())
    const server = createListener(app)
    const port = await listen(server, config.server.host, config.server.port)
    log.info({ host: config.server.host, port }, 'listening')
    return {
      port,
      app,
      engine,
      async stop() {
        const closed = closeListener(server, config.server.drainTimeoutMs)
        await engine.drain()
        await closed
        await opened.disposeAsync()
      },
    }
  } catch (error) {
    await opened.disposeAsync()
    throw error
  }
}
