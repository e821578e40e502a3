import express, { type Express } from 'express'
import { brokerRouteTable, checkRoutes } from './access/index.ts'
import { liveMetrics } from './assembly/live-metrics.ts'
import { packageVersion } from './assembly/version.ts'
import type { Config } from './config/index.ts'
import {
  answerErrors,
  type BrokerAuth,
  brokerAuth,
  cors,
  type Logger,
  noSuchRoute,
  requestLog,
  routesOf,
} from './http/index.ts'
import { ISSUER_CORS_HEADERS, ISSUER_CORS_PREFIXES, type Issuer } from './issuer/index.ts'
import { type QueueEngine, queueRouter } from './queue/index.ts'

/** What the app is made of; nothing is opened or read here. */
export interface AppParts {
  readonly config: Config
  readonly engine: QueueEngine
  readonly issuer: Issuer
  readonly log: Logger
  /** Name of the store: `sqlite` or `postgres`. */
  readonly store: string
  readonly hostname: string
  /** Name of this process in health and status. */
  readonly workerId: string
  /** Current time in ms since 1970. */
  readonly clock?: { now(): number }
}

/** The assembled app and what its owner has to end. */
export interface BrokerApp {
  readonly app: Express
  /** The gate; `auth.ready` settles when the boot pre-fetch of the key set has ended. */
  readonly auth: BrokerAuth
}

/** Request headers that browsers may send to a path beyond those of every path. */
function moreHeaders(path: string): readonly string[] {
  return ISSUER_CORS_PREFIXES.some((prefix) => path.startsWith(prefix)) ? ISSUER_CORS_HEADERS : []
}

/** An Express app that reads paths exactly as the gate does, and tells nothing about itself. */
function strictApp(): Express {
  const app = express()
  app.enable('case sensitive routing')
  app.enable('strict routing')
  app.disable('x-powered-by')
  app.disable('etag')
  return app
}

/**
 * Puts the parts together: request log, CORS, the gate, the wings, and what answers when none of them did. No
 * listening, no process, no environment. Every route stands behind the gate, which runs before any body is read.
 * @throws RouteTableError when the routes and `routes.table.json` disagree in either direction
 */
export function createApp(parts: AppParts): BrokerApp {
  const { config, engine, issuer, log, store, hostname, workerId, clock = Date } = parts
  const metrics = liveMetrics(engine)
  const { onDecision } = metrics
  const auth = brokerAuth(config.auth, { clock, logger: log, onDecision })
  const app = strictApp()
  app.use(requestLog(log))
  app.use(cors(undefined, moreHeaders))
  app.use(auth)
  app.use(
    queueRouter({
      ...config.queue,
      engine,
      log,
      clock,
      store,
      hostname,
      workerId,
      authEnabled: config.auth.enabled,
      version: packageVersion(),
      metricsText: async () => ({
        type: metrics.registry.contentType,
        text: await metrics.registry.metrics(),
      }),
    }),
  )
  app.use(issuer.router)
  app.use(noSuchRoute)
  app.use(answerErrors(log))
  checkRoutes(brokerRouteTable(), routesOf(app.router))
  return { app, auth }
}
