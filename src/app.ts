import express, { type Express, type RequestHandler } from 'express'
import { brokerRouteTable, checkRoutes } from './access/index.ts'
import type { LiveMetrics } from './assembly/live-metrics.ts'
import { openApiRouter } from './assembly/openapi.ts'
import { packageVersion } from './assembly/version.ts'
import type { Wing } from './assembly/wing.ts'
import type { Config } from './config/index.ts'
import {
  answerErrors,
  type BrokerAuth,
  brokerAuth,
  cors,
  inOrder,
  type Logger,
  noSuchRoute,
  requestLog,
  routesOf,
} from './http/index.ts'
import {
  type Operations,
  QUEUE_OPERATIONS,
  type QueueEngine,
  refuseNulQuery,
  registerQueue,
} from './queue/index.ts'

/** What the app is made of; nothing is opened or read here. */
export interface AppParts {
  readonly config: Config
  readonly engine: QueueEngine
  readonly metrics: LiveMetrics
  /** The operator's side, attached to the engine. */
  readonly operations: Operations
  /** The other wings, in the order in which their routes are tried; the queue's come first. */
  readonly wings: readonly Wing[]
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

/** An Express app that reads paths exactly as the gate does, and tells nothing about itself. */
function strictApp(): Express {
  const app = express()
  app.enable('case sensitive routing')
  app.enable('strict routing')
  app.disable('x-powered-by')
  app.disable('etag')
  return app
}

/** The broker's CORS layer, with what the wings say of their own paths. */
function corsOf(wings: readonly Wing[]): RequestHandler {
  return cors(
    (path) => wings.some((wing) => wing.ownsCors?.(path)),
    (path) => wings.flatMap((wing) => wing.corsHeaders?.(path) ?? []),
  )
}

function healthOf({ health }: Wing): readonly (readonly [string, unknown])[] {
  return health === undefined ? [] : [[health[0], health[1]()]]
}

/**
 * Puts the parts together: request log, CORS, the gate, the wings, and what answers when none of them did. No
 * listening, no process, no environment. Every route stands behind the gate, which runs before any body is read.
 * @throws RouteTableError when the routes and `routes.table.json` disagree in either direction
 */
export function createApp(parts: AppParts): BrokerApp {
  const { config, metrics, operations, wings, log, clock = Date } = parts
  const { engine, store, hostname, workerId } = parts
  const { onDecision, registry } = metrics
  const auth = brokerAuth(config.auth, { clock, logger: log, onDecision })
  metrics.watchKeySet(auth)
  const table = brokerRouteTable()
  const version = packageVersion()
  const app = strictApp()
  app.set('trust proxy', config.server.trustProxy)
  app.use(inOrder(requestLog(log), corsOf(wings), auth, refuseNulQuery))
  registerQueue(app.router, {
    ...config.queue,
    engine,
    log,
    clock,
    store,
    hostname,
    workerId,
    encrypts: config.queue.encryptionKey !== '',
    authEnabled: config.auth.enabled,
    version,
    health: () => Object.fromEntries(wings.flatMap(healthOf)),
    history: operations.history,
    sampleIntervalMs: config.operations.metricsSampleIntervalMs,
    metricsText: async () => ({
      type: registry.contentType,
      text: await operations.prometheus([registry]),
    }),
  })
  for (const wing of wings) app.use(wing.router)
  const described = [...QUEUE_OPERATIONS, ...wings.flatMap(({ operations: own }) => own ?? [])]
  app.use(openApiRouter(table, described, version))
  app.use(noSuchRoute)
  app.use(answerErrors(log))
  checkRoutes(table, routesOf(app.router))
  return { app, auth }
}
