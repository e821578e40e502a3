import http, { type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import express, { type Express } from 'express'

/** An Express app that listens on a free port of 127.0.0.1. */
export interface RunningApp {
  readonly url: string
  readonly port: number
  close(): Promise<void>
}

/** The port on which a server listens. */
export function portOf(server: Server): number {
  // A listening TCP server has an address with a port.
  return (server.address() as AddressInfo).port
}

/** An Express 5 app with case-sensitive, strict routing, as the broker uses it. */
export function strictApp(): Express {
  const app = express()
  app.enable('case sensitive routing')
  app.enable('strict routing')
  app.disable('x-powered-by')
  return app
}

/** As the broker's listener: tokens of 32 KiB must reach the gate. */
const MAX_HEADER_BYTES = 65_536

/** Makes a strict app, lets `configure` mount things on it, and listens. */
export function startApp(configure: (app: Express) => void): Promise<RunningApp> {
  const app = strictApp()
  configure(app)
  return serveApp(app)
}

/** Listens with this app on a free port of 127.0.0.1; request heads may have up to 64 KiB. */
export async function serveApp(app: Express): Promise<RunningApp> {
  const server = http.createServer({ maxHeaderSize: MAX_HEADER_BYTES }, app)
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(0, '127.0.0.1', resolve)
  })
  const port = portOf(server)
  return {
    url: `http://127.0.0.1:${port}`,
    port,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}
