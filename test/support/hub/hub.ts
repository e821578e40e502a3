import { mkdtempSync, rmSync } from 'node:fs'
import type { Server } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Registry } from 'prom-client'
import { onTestFinished } from 'vitest'
import type { HubConfig } from '../../../src/config/index.ts'
import { createListener } from '../../../src/http/listener.ts'
import { createHub, type Hub, type HubOptions, type HubStore } from '../../../src/hub/index.ts'
import { portOf, strictApp } from '../express-app.ts'
import { hubConfig } from './config.ts'
import { bearer, publisherToken } from './tokens.ts'

/** A hub that listens on a free port of 127.0.0.1. */
export interface RunningHub {
  readonly hub: Hub
  readonly port: number
  /** `http://127.0.0.1:PORT` */
  readonly origin: string
  /** The hub URL. */
  readonly url: string
  readonly server: Server
  readonly registry: Registry
  close(): Promise<void>
}

/** Where a history is kept; closed after the hub. */
export interface KeptHistory {
  hub(historySize: number): HubStore
  close(): Promise<void>
}

/** How a test hub differs from the usual one. */
export interface StartOptions extends Partial<Omit<HubOptions, 'config'>> {
  readonly settings?: Partial<HubConfig>
  /** Without one nothing is kept. */
  readonly kept?: KeptHistory
  /** Express's `trust proxy`. */
  readonly trustProxy?: string | number
}

/** A folder that is gone when the test is. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'hivegate-hub-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

/** Starts a hub behind the broker's own listener; it is closed when the test is finished, or by `close`. */
export async function startHub(options: StartOptions = {}): Promise<RunningHub> {
  const { settings, kept, trustProxy, ...rest } = options
  const config = hubConfig(settings)
  const registry = new Registry()
  const store = kept === undefined ? {} : { store: kept.hub(config.historySize) }
  const hub = createHub({ config, registry, ...store, ...rest })
  await hub.ready
  const app = strictApp()
  if (trustProxy !== undefined) app.set('trust proxy', trustProxy)
  app.use(hub.router)
  const server = createListener(app)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const port = portOf(server)
  const origin = `http://127.0.0.1:${port}`
  let closing: Promise<void> | undefined
  const close = () => {
    closing ??= (async () => {
      await hub.close()
      await kept?.close()
      await new Promise((resolve) => {
        server.close(resolve)
        server.closeAllConnections()
      })
    })()
    return closing
  }
  onTestFinished(close)
  return { hub, port, origin, url: `${origin}/.well-known/mercure`, server, registry, close }
}

/** The fields of an update; a list repeats a field. */
export type PublishFields = Readonly<Record<string, string | readonly string[]>>

/** The body of a publish request. */
export function form(fields: PublishFields): URLSearchParams {
  const body = new URLSearchParams()
  for (const [name, value] of Object.entries(fields)) {
    for (const one of typeof value === 'string' ? [value] : value) body.append(name, one)
  }
  return body
}

/** Publishes with a token that may publish everything, unless `token` is another. */
export function publish(
  hub: RunningHub,
  fields: PublishFields,
  token = publisherToken(),
): Promise<Response> {
  return fetch(hub.url, { method: 'POST', headers: bearer(token), body: form(fields) })
}
