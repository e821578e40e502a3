import type { Router } from 'express'
import type { Registry } from 'prom-client'
import { createTopicMatchers, MatchCache } from '../access/index.ts'
import type { HubConfig } from '../config/index.ts'
import { type Log, NO_LOG } from '../keys/index.ts'
import { createHubAuthenticator, type TokenDialect } from './authenticator.ts'
import type { Clock } from './clock.ts'
import type { HubContext } from './context.ts'
import { DeliveryEngine } from './delivery/engine.ts'
import { SubscriberIndex } from './delivery/subscriber-index.ts'
import type { HubIdentity } from './identity.ts'
import { hubLog } from './log.ts'
import { hubMetrics } from './metrics.ts'
import { EARLIEST } from './reserved.ts'
import { hubRouter } from './router.ts'
import type { HubStore } from './store.ts'
import { localStore } from './stores/local.ts'
import { subscriberIds } from './subscriber-id.ts'

/** What a hub is made from. */
export interface HubOptions {
  readonly config: HubConfig
  /** The history; without one, updates reach only those who are connected. The hub closes it. */
  readonly store?: HubStore
  readonly clock?: Clock
  readonly logger?: Log
  /** Where the hub's metrics are added; without one they are counted and shown nowhere. */
  readonly registry?: Registry
  /** Reads tokens that are no RFC 9068 access tokens, such as path-prefix tokens. */
  readonly otherDialect?: TokenDialect
  /** From 0 to 1; spreads the ends of streams and the trimming of history. */
  readonly random?: () => number
}

/** What `/health` says of the hub. */
export interface HubHealth {
  readonly enabled: boolean
  readonly status: 'starting' | 'ok' | 'failed' | 'draining' | 'closed'
  readonly subscribers: number
  /** True when the debugger page is served; the dashboard then links to it. */
  readonly debugger: boolean
}

/** A running hub. */
export interface Hub {
  /** Mount it at the root of an app, before body parsers: `app.use(hub.router)`. */
  readonly router: Router
  /** Resolves once the history is open. @throws what kept it from opening */
  readonly ready: Promise<void>
  /** Id of the newest update, for discovery links; `earliest` while there is none. */
  lastEventId(): string
  health(): HubHealth
  /** Ends the open streams of those bearers for whom it holds, for instance when their key was revoked. */
  endStreams(holds: (identity: HubIdentity) => boolean): void
  /** Ends all streams at once and takes no new ones; publishing goes on. For a server that is to stop. */
  drain(): void
  /** Ends all streams at once, waits until what was accepted is stored, and closes the store. */
  close(): Promise<void>
}

/**
 * Makes a hub. It works from the first moment on: requests that come before the history is open wait
 * for it. A configuration that turns the hub off gives a router that answers 404 on the hub's paths.
 */
export function createHub(options: HubOptions): Hub {
  const { config, clock = Date, random = Math.random } = options
  const logger = options.logger ?? NO_LOG
  const log = hubLog(logger)
  const matchers = createTopicMatchers(
    config.matcherBaseUrl,
    new MatchCache(config.topicMatcherCache),
  )
  const index = new SubscriberIndex({ ...config, compile: matchers.compile })
  const engine = new DeliveryEngine({
    ...config,
    store: options.store ?? localStore(),
    index,
    clock,
    random,
    onReplayFailure: (error) => log.background(error, 'hub replay failed'),
  })
  let status: HubHealth['status'] = 'starting'
  const ready = engine.start().then(
    () => {
      if (status === 'starting') status = 'ok'
    },
    (error: unknown) => {
      status = 'failed'
      throw error
    },
  )
  // Whoever awaits `ready` sees the failure; nobody has to.
  ready.catch((error: unknown) => log.background(error, 'hub history cannot be opened'))
  const authenticator = createHubAuthenticator({
    config,
    matchers,
    clock,
    log: logger,
    ...(options.otherDialect === undefined ? {} : { otherDialect: options.otherDialect }),
  })
  const context: HubContext = {
    config,
    engine,
    authenticator,
    otherDialect: options.otherDialect !== undefined,
    metrics: hubMetrics(options.registry),
    log,
    clock,
    random,
    subscriberId: subscriberIds(),
    ready,
    accepting: () => status === 'ok',
  }
  return {
    router: hubRouter(context),
    ready,
    lastEventId: () => engine.lastEventId ?? EARLIEST,
    health: () => ({
      enabled: config.enabled,
      status,
      subscribers: index.all.size,
      debugger: config.enabled && config.debugger,
    }),
    endStreams(holds) {
      for (const { identity, stream } of index.all) if (holds(identity)) stream.end()
    },
    drain() {
      if (status !== 'closed') status = 'draining'
      engine.endStreams()
    },
    async close() {
      status = 'closed'
      authenticator.close()
      await engine.close()
    },
  }
}
