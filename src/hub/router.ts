import express, { type ErrorRequestHandler, type RequestHandler, type Router } from 'express'
import { answer, answerError, HubRefusal } from './answers.ts'
import type { HubContext } from './context.ts'
import { setCommonFields } from './cross-origin.ts'
import { isServedOrigin, requestOrigin } from './origin.ts'
import { type Handler, isHubPath, type Operation, RESOURCES } from './resources.ts'
import { showPlayground } from './routes/playground.ts'

/** Where development mode pretends to be an application (protocol, section 19). */
const PLAYGROUND_PATH = '/playground/*path'

/** A mounted hub would not be at its one fixed path, and its routes would be judged under other names. */
class HubMountError extends Error {
  readonly code = 'hub_mounted_below'
  constructor(baseUrl: string) {
    super(`the hub router has to be mounted at the root of the app, not at ${baseUrl}`)
    this.name = 'HubMountError'
  }
}

function run(hub: HubContext, handler: Handler): RequestHandler {
  // A rejected promise goes to the error handler by way of Express 5 itself.
  return (req, res) => handler(hub, req, res)
}

/** What comes before any route: fields that every answer carries, unknown origins, preflights. */
function prelude(hub: HubContext): RequestHandler {
  const { config } = hub
  return (req, res, next) => {
    if (req.baseUrl !== '') throw new HubMountError(req.baseUrl)
    if (!isHubPath(req.path)) return next()
    setCommonFields(req, res, config.corsOrigins)
    if (!config.enabled) throw new HubRefusal(404)
    if (!isServedOrigin(requestOrigin(req, config), config)) throw new HubRefusal(421)
    if (req.method === 'OPTIONS') return answer(req, res, 204, {})
    return next()
  }
}

function allowOf(operations: readonly Operation[]): string {
  const methods = operations.map(({ method }) => method)
  return methods.flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method])).join(', ')
}

/** What no route took: a method whose condition does not hold, an unknown path below the hub's. */
function epilogue(hub: HubContext): RequestHandler {
  return (req, res, next) => {
    if (!isHubPath(req.path)) return next()
    const resource = RESOURCES.find(({ shape }) => shape.test(req.path))
    const available = resource?.operations.filter(({ exists }) => exists(hub)) ?? []
    if (available.length === 0) throw new HubRefusal(404)
    const method = req.method === 'HEAD' ? 'GET' : req.method
    const missed = available.find((operation) => operation.method === method)
    if (missed === undefined) throw new HubRefusal(405, { Allow: allowOf(available) })
    return missed.handler(hub, req, res)
  }
}

function failures(hub: HubContext): ErrorRequestHandler {
  return (error: unknown, req, res, next) => {
    // Below another path nothing is ours to answer.
    if (error instanceof HubMountError) return next(error)
    const { metadataUrl } = requestOrigin(req, hub.config)
    return answerError(req, res, error, { metadataUrl, log: hub.log })
  }
}

/**
 * The hub as an Express router; it answers the hub's own paths and passes on everything else. Mount it
 * at the root, before body parsers and before a gate that judges by other rules.
 */
export function hubRouter(hub: HubContext): Router {
  const router = express.Router({ caseSensitive: true, strict: true })
  router.use(prelude(hub))
  for (const { paths, operations } of RESOURCES) {
    for (const { method, exists, handler } of operations) {
      const serve: RequestHandler = (req, res, next) =>
        exists(hub) ? handler(hub, req, res) : next()
      for (const path of paths) {
        if (method === 'QUERY') router.query?.(path, serve)
        else router[method === 'GET' ? 'get' : 'post'](path, serve)
      }
    }
  }
  router.get(PLAYGROUND_PATH, (req, res, next) =>
    hub.config.dev ? run(hub, showPlayground)(req, res, next) : next(),
  )
  router.use(epilogue(hub))
  router.use(failures(hub))
  return router
}
