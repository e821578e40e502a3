import type { Request } from 'express'
import type { HubConfig, HubRole } from '../config/index.ts'
import type { Clock } from './clock.ts'
import type { DeliveryEngine } from './delivery/engine.ts'
import type { HubAuthenticator, HubIdentity } from './identity.ts'
import type { HubLog } from './log.ts'
import type { HubMetrics } from './metrics.ts'
import { requestOrigin } from './origin.ts'
import type { MakeSubscriberId } from './subscriber-id.ts'

/** What the handlers of one hub share. */
export interface HubContext {
  readonly config: HubConfig
  readonly engine: DeliveryEngine
  readonly authenticator: HubAuthenticator
  /** True when tokens of another dialect are accepted, for either role. */
  readonly otherDialect: boolean
  readonly metrics: HubMetrics
  readonly log: HubLog
  readonly clock: Clock
  readonly random: () => number
  readonly subscriberId: MakeSubscriberId
  /** Resolves once the store is open. @throws what kept it from opening */
  readonly ready: Promise<void>
  /** False once the hub closes: no new subscriber is taken. */
  accepting(): boolean
}

/** Whether tokens of a role can be verified at all; if not, that role does not exist. */
export function verifies({ config, otherDialect }: HubContext, role: HubRole): boolean {
  return otherDialect || config.issuers.some((issuer) => issuer[role] !== undefined)
}

/**
 * Who sends this request.
 * @throws HubAuthError 400 or 401
 */
export function identify(
  { config, authenticator }: HubContext,
  req: Request,
  role: HubRole,
): Promise<HubIdentity> {
  const { scheme, resourceIdentifier } = requestOrigin(req, config)
  return authenticator.authenticate(
    { method: req.method, scheme, headers: req.headersDistinct, resourceIdentifier },
    role,
  )
}
