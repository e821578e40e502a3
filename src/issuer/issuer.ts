import { Router } from 'express'
import { ConfigError, type PubsubConfig } from '../config/index.ts'
import type { Logger, Operation } from '../http/index.ts'
import { publicHalf } from '../keys/index.ts'
import { answerIssuerErrors } from './answers.ts'
import { CallerReader } from './caller.ts'
import type { IssuerParts } from './parts.ts'
import { KeyRegistry } from './registry.ts'
import { ADMIN_OPERATIONS, adminRouter } from './routes/admin.ts'
import { KEY_OPERATIONS, keysRouter } from './routes/keys.ts'
import { MINT_OPERATION, mintRouter } from './routes/mint.ts'
import { RPC_OPERATIONS, rpcRouter } from './routes/rpc.ts'
import { openSessions } from './session.ts'
import type { IssuerStore } from './store.ts'

/** Every route of the issuer for the API document. */
export const ISSUER_OPERATIONS: readonly Operation[] = [
  MINT_OPERATION,
  ...RPC_OPERATIONS,
  ...KEY_OPERATIONS,
  ...ADMIN_OPERATIONS,
]

/**
 * Headers that `@supabase/supabase-js` sends from a browser to the routes of `ISSUER_CORS_PREFIXES`, beyond
 * what every route of the broker allows.
 */
export const ISSUER_CORS_HEADERS: readonly string[] = [
  'apikey',
  'x-client-info',
  'x-api-key',
  'content-profile',
]

/** Paths on which those headers are allowed. */
export const ISSUER_CORS_PREFIXES: readonly string[] = ['/functions/v1/', '/rest/v1/', '/pubsub/']

/** What the issuer is opened with. */
export interface IssuerOptions {
  readonly config: PubsubConfig
  readonly store: IssuerStore
  readonly log: Logger
  /** Time in ms. */
  readonly clock: { now(): number }
  /** See `RegistryOptions`: 0 where this process is the store's only writer. */
  readonly registryRefreshMs?: number
}

/** The issuer of one process. */
export interface Issuer {
  readonly router: Router
  /** The active public keys, also a key source for verifiers in this process. */
  readonly registry: KeyRegistry
  close(): void
}

/** Registers the public half of the minting key unless its kid is known (token issuing, 1.4). */
async function registerOwnKey(
  { config, log }: IssuerOptions,
  registry: KeyRegistry,
): Promise<void> {
  const { mintingKey } = config
  if (!mintingKey) return
  const half = publicHalf(mintingKey)
  const row = await registry.insert(half)
  if (JSON.stringify(row.jwk) !== JSON.stringify(half)) {
    throw new ConfigError([
      `PUBSUB_JWT_PRIVATE_JWK: kid ${half.kid} is registered with another public key; ` +
        'give the new key a kid of its own',
    ])
  }
  if (row.revokedAtMs !== null) {
    log.warn({ kid: row.kid }, 'PUBSUB_JWT_PRIVATE_JWK: its kid is revoked, nothing can be minted')
  }
}

function routerOf(parts: IssuerParts): Router {
  const router = Router({ caseSensitive: true, strict: true })
  router.use(mintRouter(parts), rpcRouter(parts), keysRouter(parts), adminRouter(parts))
  router.use(answerIssuerErrors(parts.log))
  return router
}

/**
 * Opens the issuer: reads the registered keys, registers its own, and makes the router.
 * @throws ConfigError when the minting key's kid stands for another public key
 */
export async function openIssuer(options: IssuerOptions): Promise<Issuer> {
  const { config, store, log, clock, registryRefreshMs = 0 } = options
  const registry = await KeyRegistry.open({ store, clock, refreshMs: registryRefreshMs })
  const sessions = openSessions(config, { clock, log })
  const close = () => {
    registry.close()
    sessions.close()
  }
  try {
    await registerOwnKey(options, registry)
  } catch (error) {
    close()
    throw error
  }
  const { mintingKey, tokenTtlS, serviceRoleKey } = config
  const minter = mintingKey && { key: mintingKey, ttlS: tokenTtlS, clock }
  const callers = new CallerReader({ store, serviceRoleKey, verifySession: sessions.verify })
  return { router: routerOf({ store, registry, callers, minter, clock, log }), registry, close }
}
