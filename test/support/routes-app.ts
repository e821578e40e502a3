import { readFileSync } from 'node:fs'
import http from 'node:http'
import express, { type Express, Router } from 'express'
import { brokerAuth, loadAuthConfig } from '../../src/auth.ts'
import { fakeClock } from './clock.ts'
import { serveApp, strictApp } from './express-app.ts'
import { jwtEnvironment, type Level } from './guarded-app.ts'

/** One row of `routes` in routes.table.json. */
export interface RouteRow {
  readonly method: string
  readonly path: string
  readonly level: Level
}

/** `routes.table.json` as it stands in the repository. */
export function readRouteTable(): { readonly routes: readonly RouteRow[] } {
  const file = new URL('../../routes.table.json', import.meta.url)
  return JSON.parse(readFileSync(file, 'utf8')) as { routes: RouteRow[] }
}

/** What came of one request: the status, and the row whose handler ran, if one did. */
export interface RouteRun {
  readonly status: number
  readonly ran: RouteRow | undefined
}

/** An app with a handler for every row of the table, each of which says that it ran. */
export interface RoutesApp {
  readonly port: number
  readonly rows: readonly RouteRow[]
  /** Sends `target` as it is written; rejects only if the connection fails. */
  run(method: string, target: string, headers?: http.OutgoingHttpHeaders): Promise<RouteRun>
  close(): Promise<void>
}

/** How the app under attack is built. */
export interface RoutesAppOptions {
  readonly env?: Readonly<Record<string, string>>
  /** Where gate and routes are mounted; also the gate's basePath. */
  readonly mount?: string
  /** Express's default routing, which ignores letter case and a trailing slash. */
  readonly looseRouting?: boolean
}

const MARK = 'x-ran'

function mountRows(router: Pick<Router, 'all'>, rows: readonly RouteRow[]): void {
  const byPath = Map.groupBy(rows, (row) => row.path)
  // Literal paths before patterns, as the broker registers them.
  const paths = [...byPath.keys()].toSorted((a, b) => a.split(':').length - b.split(':').length)
  for (const path of paths) {
    router.all(path, (req, res, next) => {
      const method = req.method === 'HEAD' ? 'GET' : req.method
      const row = byPath.get(path)?.find((known) => known.method === method)
      if (!row) return next()
      res.setHeader(MARK, String(rows.indexOf(row)))
      res.end()
    })
  }
}

function build(rows: readonly RouteRow[], options: RoutesAppOptions): Express {
  const { env = {}, mount = '', looseRouting = false } = options
  const app = looseRouting ? express() : strictApp()
  const strict = !looseRouting
  const router = Router({ caseSensitive: strict, strict })
  const config = loadAuthConfig(jwtEnvironment(env))
  router.use(brokerAuth(config, { clock: fakeClock(), logger: false, basePath: mount }))
  mountRows(router, rows)
  router.use((_req, res) => {
    res.status(404).end()
  })
  app.use(mount || '/', router)
  return app
}

/** Starts the app with one handler for each row of routes.table.json behind the gate. */
export async function startRoutesApp(options: RoutesAppOptions = {}): Promise<RoutesApp> {
  const rows = readRouteTable().routes
  const app = await serveApp(build(rows, options))
  const agent = new http.Agent({ keepAlive: true, maxSockets: 8 })
  const run = (method: string, target: string, headers: http.OutgoingHttpHeaders = {}) =>
    new Promise<RouteRun>((resolve, reject) => {
      const request = http.request(
        { host: '127.0.0.1', port: app.port, path: target, method, headers, agent },
        (response) => {
          const mark = response.headers[MARK]
          response.resume().on('end', () => {
            const ran = mark === undefined ? undefined : rows[Number(mark)]
            resolve({ status: response.statusCode ?? 0, ran })
          })
        },
      )
      request.on('error', reject).end()
    })
  return {
    port: app.port,
    rows,
    run,
    async close() {
      agent.destroy()
      await app.close()
    },
  }
}
