import type { Application, NextFunction, Request, RequestHandler, Response } from 'express'
import { pino } from 'pino'
import {
  brokerRouteTable,
  checkRows,
  type Level,
  loadRouteTable,
  pathOf,
  type RouteTable,
  type RouteTableInput,
} from '../../access/index.ts'
import type { AuthConfig } from '../../config/index.ts'
import { type Log, NO_LOG } from '../../keys/index.ts'
import { answerJson } from '../answer.ts'
import { AUTH_OFF, type Decision, type DecisionLevel, Gate } from './decision.ts'
import { type KeySetState, roleKeys } from './key-sources.ts'
import { logRefusal } from './log-refusal.ts'
import { REFUSALS } from './refusals.ts'
import type { Ruling } from './rulings.ts'
import { TokenVerifier } from './verifier.ts'
import { authBootWarnings } from './warnings.ts'

/** What a metric or audit hook is told of each decision; never holds the token. */
export interface DecisionRecord {
  readonly level: DecisionLevel
  readonly outcome: 'allowed' | 'refused'
  readonly reason: Decision['reason']
}

/** How the middleware is mounted. */
export interface BrokerAuthOptions {
  /** The app's own rules, in the form of `routes.table.json`; without them the broker's table classifies. */
  readonly rules?: RouteTableInput
  /** One level for every path, instead of rules. */
  readonly level?: Level
  /** The path at which it is mounted, such as `/queue`; rules and skip entries speak of what comes after it. */
  readonly basePath?: string
  /** Time in ms since 1970. */
  readonly clock?: { now(): number }
  /** How many verified tokens are remembered; 0 verifies every signature anew. Default 10 000. */
  readonly cacheSize?: number
  /** Where boot lines and refusals go: a pino logger, or false for nowhere. Default: pino on stdout. */
  readonly logger?: Log | false
  /** Called once for each request. Must not throw. */
  readonly onDecision?: (record: DecisionRecord) => void
}

/** The middleware, with what its owner may want: when the first key fetch ended, the key set's state, an end of its timers. */
export interface BrokerAuth extends RequestHandler {
  /** Settles when the boot pre-fetch of the key set has ended, well or not; at once without a key set. */
  readonly ready: Promise<void>
  /** What is cached of the key set; undefined when the keys come from elsewhere. */
  keySet(): KeySetState | undefined
  /** Stops refreshes and running fetches. */
  close(): void
}

/** A path that no mount can equal would turn every request into a 500. */
function checkBasePath(basePath: string): string {
  if (basePath === '/') return ''
  if (basePath === '' || /^\/.*[^/]$/.test(basePath)) return basePath
  throw new TypeError(`basePath is empty or a path such as /queue, not ${JSON.stringify(basePath)}`)
}

function targetOf({ rules, level }: BrokerAuthOptions): RouteTable | Level {
  if (rules !== undefined && level !== undefined) {
    throw new TypeError('brokerAuth takes rules or level, not both')
  }
  if (level !== undefined) return level
  if (rules === undefined) return brokerRouteTable()
  const table = loadRouteTable(rules)
  checkRows(table)
  return table
}

function logBoot(config: AuthConfig, log: Log): void {
  if (!config.enabled) return
  const { algorithm, skipPaths } = config
  log.info({ algorithm, skipPaths }, 'JWT auth ENABLED')
  for (const warning of authBootWarnings(config)) log.warn({}, warning)
}

/** Express reads the path itself; undefined if its reading is `own`, else a decision has to hold for both. */
function readByExpress(req: Request, own: string): string | undefined {
  try {
    return req.path === own ? undefined : req.path
  } catch {
    // An absolute-form target that cannot be parsed; Express routes it nowhere.
    return undefined
  }
}

/** What Express keeps on a router; not in its types. */
interface RouterSettings {
  readonly caseSensitive?: boolean
  readonly strict?: boolean
}

/**
 * Whether the app's router takes other spellings for the same path. The router is asked, not the app's settings:
 * it takes them over when it is made, and what is set afterwards changes nothing.
 */
function isLoose(app: Application): boolean {
  const router = app.router as RouterSettings
  return !(router.caseSensitive === true && router.strict === true)
}

function answerRefusal(res: Response, reason: keyof typeof REFUSALS): void {
  const { status, text, challenge } = REFUSALS[reason]
  if (challenge !== undefined) res.setHeader('WWW-Authenticate', challenge)
  answerJson(res, status, { error: text })
}

/**
 * The auth middleware of seed "Broker authentication" for any Express app. It looks at the method, the path and the
 * `Authorization` header alone, never at a body, and puts who it is into `req.auth`. With a key set it starts the
 * pre-fetch and the background refresh itself.
 * @throws TypeError for rules together with level or a basePath of a wrong form; RouteTableError for rules that cannot be used
 */
export function brokerAuth(config: AuthConfig, options: BrokerAuthOptions = {}): BrokerAuth {
  const { clock = Date, onDecision, logger } = options
  const log = logger === false ? NO_LOG : (logger ?? pino({ name: 'hivegate', base: null }))
  const basePath = checkBasePath(options.basePath ?? '')
  const target = targetOf(options)
  logBoot(config, log)
  const keys = roleKeys(config, log, clock)
  const gate = new Gate(config, target, new TokenVerifier(config, keys, clock, options.cacheSize))

  const rulingOf = (req: Request): Ruling => {
    const { method, originalUrl, url } = req
    const loose = isLoose(req.app)
    const target = basePath === '' ? originalUrl : originalUrl.slice(basePath.length)
    // No path that a ruling is kept for has a query: then the target is the path, and Express reads the same.
    const known = target === url ? gate.rulings.known(method, target, loose) : undefined
    if (known !== undefined) return known
    const path = pathOf(originalUrl).slice(basePath.length) || '/'
    return gate.rulings.of({ method, path, readAs: readByExpress(req, path), loose })
  }

  const decide = (req: Request): Decision | Promise<Decision> => {
    if (!config.enabled) return AUTH_OFF
    if (req.baseUrl !== basePath) {
      const error = new Error(
        `mounted at ${JSON.stringify(req.baseUrl)}, basePath is ${JSON.stringify(basePath)}`,
      )
      return { outcome: 'refused', reason: 'mount_mismatch', level: 'none', error }
    }
    return gate.decide(rulingOf(req), req.rawHeaders)
  }

  const settle = (decision: Decision, req: Request, res: Response, next: NextFunction): void => {
    const { level, outcome, reason } = decision
    onDecision?.({ level, outcome, reason })
    if (decision.outcome === 'allowed') {
      req.auth = decision.identity
      next()
      return
    }
    logRefusal(log, req, decision)
    answerRefusal(res, decision.reason)
  }
  const handler: RequestHandler = (req, res, next) => {
    const decision = decide(req)
    if (decision instanceof Promise)
      decision.then((made) => settle(made, req, res, next)).catch(next)
    else settle(decision, req, res, next)
  }
  return Object.assign(handler, {
    ready: keys.ready,
    keySet: () => keys.keySet(),
    close: () => keys.close(),
  })
}
