import type { Registry } from 'prom-client'
import type { Config, HubConfig } from '../config/index.ts'
import type { Logger } from '../http/index.ts'
import { createHub, HUB_OPERATIONS, type Hub, isHubPath } from '../hub/index.ts'
import {
  ISSUER_CORS_HEADERS,
  ISSUER_CORS_PREFIXES,
  ISSUER_OPERATIONS,
  type Issuer,
  openIssuer,
} from '../issuer/index.ts'
import { type PubsubDialect, pubsubDialect } from './pubsub-dialect.ts'
import type { Stores } from './stores.ts'
import type { Wing } from './wing.ts'

/** What the wings are opened with. */
export interface WingOptions {
  readonly config: Config
  readonly stores: Stores
  readonly log: Logger
  readonly clock: { now(): number }
  /** Where the hub's metrics are added. */
  readonly registry: Registry
}

const NO_HEADERS: readonly string[] = []

function issuerWing(issuer: Issuer): Wing {
  return {
    router: issuer.router,
    operations: ISSUER_OPERATIONS,
    corsHeaders: (path) =>
      ISSUER_CORS_PREFIXES.some((prefix) => path.startsWith(prefix))
        ? ISSUER_CORS_HEADERS
        : NO_HEADERS,
    close: () => issuer.close(),
  }
}

function hubWing(hub: Hub): Wing {
  return {
    router: hub.router,
    ownsCors: isHubPath,
    operations: HUB_OPERATIONS,
    health: ['hub', () => hub.health()],
    async drain() {
      hub.drain()
    },
    close: () => hub.close(),
  }
}

/** A key that was revoked or replaced ends the streams that were opened with it. */
function endRevokedStreams(hub: Hub, { registry }: Issuer, dialect: PubsubDialect): void {
  registry.onRetired((kid) => hub.endStreams((bearer) => dialect.kidOf(bearer) === kid))
}

/** A hub that takes path-prefix tokens needs no issuer of its own to be of use. */
function hubConfigOf({ hub, pubsub }: Config): HubConfig {
  return { ...hub, enabled: hub.enabled || pubsub.hub }
}

/**
 * Opens the issuer and the hub on the broker's store.
 * @throws ConfigError for a minting key whose kid stands for another key; what kept the hub's history from opening
 */
export async function openWings(options: WingOptions): Promise<readonly Wing[]> {
  const { config, stores, log, clock, registry } = options
  const issuer = await openIssuer({
    config: config.pubsub,
    store: stores.issuer,
    log,
    clock,
    registryRefreshMs: stores.registryRefreshMs,
  })
  const dialect = pubsubDialect(issuer.registry, clock)
  const hub = createHub({
    config: hubConfigOf(config),
    clock,
    logger: log,
    registry,
    ...(config.hub.transport === 'persistent' && {
      store: stores.hub(config.hub.historySize),
    }),
    ...(config.pubsub.hub && { otherDialect: dialect }),
  })
  endRevokedStreams(hub, issuer, dialect)
  await hub.ready
  return [issuerWing(issuer), hubWing(hub)]
}
