import type { Logger } from '../http/index.ts'
import type { CallerReader } from './caller.ts'
import type { MinterOptions } from './minter.ts'
import type { KeyRegistry } from './registry.ts'
import type { IssuerStore } from './store.ts'

/** What the issuer's routes work with. */
export interface IssuerParts {
  readonly store: IssuerStore
  readonly registry: KeyRegistry
  readonly callers: CallerReader
  /** Undefined without `PUBSUB_JWT_PRIVATE_JWK`: then nothing is minted here. */
  readonly minter: MinterOptions | undefined
  /** Time in ms. */
  readonly clock: { now(): number }
  readonly log: Logger
}
