import type { Role } from '../../access/index.ts'
import type { Claims, TokenHeader } from '../../tokens/index.ts'

/** Who a request comes from. Without `claims` there is no identity: auth is off, or the path is skipped or public. */
export interface Identity {
  /** The token's `sub`; the only source of `producerSub` (seed: "Claim validation"). */
  readonly sub?: string
  /** The roles held, under their canonical names whatever the token calls them. */
  readonly roles: readonly Role[]
  /** The verified claims, deeply frozen: requests with the same token share them. */
  readonly claims?: Claims
  /** The token's header. */
  readonly header?: TokenHeader
}

declare global {
  namespace Express {
    interface Request {
      /** Who the request comes from, as {@link brokerAuth} found; absent where no auth middleware ran. */
      auth?: Identity
    }
  }
}

/** Stamped on every request that needs no token. Seed: "stamps an empty identity into every request". */
export const EMPTY_IDENTITY: Identity = Object.freeze({ roles: Object.freeze([]) })
