import { hostname } from 'node:os'
import type { Express } from 'express'
import { createApp } from '../app.ts'
import type { Config } from '../config/index.ts'
import { createListener, type Logger } from '../http/index.ts'
import { Operations, type ProcessIdentity, type QueueEngine, startJobs } from '../queue/index.ts'
import { readCertificate, reloadCertificate } from './certificate.ts'
import { listen } from './listen.ts'
import { liveMetrics } from './live-metrics.ts'
import { closeListener } from './shutdown.ts'
import { openQueue, openStores } from './stores.ts'
import { openWings } from './wings.ts'

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
  /** Reads the files of the TLS listener again; open connections go on. Without TLS it does nothing. */
  reloadCertificate(): void
  /**
   * Drains and stops: no new connections, waiting pops are answered with nothing, answers in progress go out,
   * writes in flight are committed, the store is closed. Connections that take longer than the drain time are cut.
   */
  stop(): Promise<void>
}

/** Opens what the app is made of; each part is put on `opened`, to be closed in reverse order. */
async function openParts(
  config: Config,
  options: BrokerOptions & { readonly identity: ProcessIdentity },
  opened: AsyncDisposableStack,
) {
  const { log, identity, clock = Date } = options
  const operations = new Operations({ config: config.operations, clock, identity })
  const stores = await openStores(config, log)
  opened.defer(() => stores.close())
  const engine = await openQueue(config, stores.queue, { log, clock, operations })
  opened.defer(() => engine.close())
  operations.attach(engine, (err) => log.warn({ err }, 'metrics could not be stored'))
  opened.defer(() => operations.stop())
  const jobs = startJobs(engine, config.queue, log)
  opened.defer(() => jobs.stop())
  const metrics = liveMetrics(clock)
  const { registry } = metrics
  const wings = await openWings({ config, stores, log, clock, registry })
  for (const wing of wings) opened.defer(async () => wing.close?.())
  return { store: stores.kind, engine, metrics, operations, wings }
}

/**
 * Opens the store, assembles the app and listens. What was opened is closed again when a later step fails.
 * @throws StoreError for a store that cannot be opened, ConfigError, RouteTableError, BootError
 */
export async function startBroker(config: Config, options: BrokerOptions): Promise<Broker> {
  const { log, clock = Date } = options
  const opened = new AsyncDisposableStack()
  try {
    const host = hostname()
    const workerId = config.queue.workerId || `${host}-${process.pid}`
    const identity = { hostname: host, workerId, port: config.server.port }
    const parts = await openParts(config, { ...options, identity }, opened)
    const { app, auth } = createApp({ config, log, clock, ...identity, ...parts })
    opened.defer(() => auth.close())
    const server = createListener(app, {}, readCertificate(config))
    const port = await listen(server, config.server.host, config.server.port)
    return {
      port,
      app,
      engine: parts.engine,
      reloadCertificate: () => reloadCertificate(config, server, log),
      async stop() {
        const closed = closeListener(server, config.server.drainTimeoutMs)
        await Promise.all([parts.engine.drain(), ...parts.wings.map((wing) => wing.drain?.())])
        await closed
        await opened.disposeAsync()
      },
    }
  } catch (error) {
    await opened.disposeAsync()
    throw error
  }
}
