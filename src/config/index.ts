import leven from 'leven'
import { DATABASE_VARIABLES, type DatabaseConfig, databaseWarnings } from './database.ts'
import { readHub } from './hub.ts'
import type { HubConfig } from './hub-types.ts'
import { HUB_VARIABLES } from './hub-variables.ts'
import { type AuthConfig, JWT_VARIABLES, readAuth } from './jwt.ts'
import { OPERATIONS_VARIABLES, type OperationsConfig } from './operations.ts'
import { PUBSUB_VARIABLES, type PubsubConfig, pubsubWarnings } from './pubsub.ts'
import { QUEUE_VARIABLES, type QueueConfig } from './queue.ts'
import { checkTls, SERVER_VARIABLES, type ServerConfig } from './server.ts'
import { type Environment, readSection, type Section } from './variable.ts'

export type { DatabaseConfig } from './database.ts'
export type { DatabaseUrl } from './database-url.ts'
export { DEV_EXPIRY_S, DEV_RESOURCE_IDENTIFIER, DEV_SECRET, loadDevKey } from './hub.ts'
export { DEFAULT_ISSUER } from './hub-issuers.ts'
export {
  DEFAULT_JWKS_ALGORITHMS,
  HUB_ALGORITHMS,
  type HubAlgorithm,
  type HubConfig,
  type HubIssuer,
  type HubRole,
  type HubVerifier,
} from './hub-types.ts'
export { type AuthConfig, JWT_ALGORITHM_SETTINGS, loadMintDefaults } from './jwt.ts'
export { durationMs } from './kinds.ts'
export type { OperationsConfig } from './operations.ts'
export { cleanPem, holdsPrivateKey, isPem } from './pem-text.ts'
export { type PubsubConfig, TOKEN_TTL_RANGE_S } from './pubsub.ts'
export type { QueueConfig } from './queue.ts'
export type { ServerConfig } from './server.ts'
export {
  isStrongEnough,
  KID_PATTERN,
  type MintingKey,
  parsePrivateJwk,
  SIGNING_ALGS,
  type SigningKeyKind,
  signingJwkSchema,
  signingKeyKind,
} from './signing-jwk.ts'
export type { Environment } from './variable.ts'

/** Every section of the environment, in the order in which `.env.example` lists them. */
export const SECTIONS: Readonly<Record<string, Section>> = {
  Server: SERVER_VARIABLES,
  Database: DATABASE_VARIABLES,
  Authentication: JWT_VARIABLES,
  Queue: QUEUE_VARIABLES,
  'Event hub': HUB_VARIABLES,
  'Metrics and limits': OPERATIONS_VARIABLES,
  'Pub/sub tokens': PUBSUB_VARIABLES,
}

/** Prefixes that belong to this project: an unknown name below one is most likely a typo. */
const OWN_PREFIXES = /^(JWT|MERCURE|PUBSUB|QUEEN)_/

/** The whole configuration, frozen; read once at boot. */
export interface Config {
  readonly server: ServerConfig
  readonly database: DatabaseConfig
  readonly auth: AuthConfig
  readonly queue: QueueConfig
  readonly hub: HubConfig
  readonly operations: OperationsConfig
  readonly pubsub: PubsubConfig
  /** For the log at boot: unknown variables below our prefixes, and what other settings make unsafe. */
  readonly warnings: readonly string[]
}

/** Raised when the environment cannot be used; `problems` holds one line per wrong variable. */
export class ConfigError extends Error {
  readonly code = 'config_invalid'
  readonly problems: readonly string[]
  constructor(problems: readonly string[]) {
    super(problems.join('\n'))
    this.name = 'ConfigError'
    this.problems = problems
  }
}

/** Names every variable below our prefixes that no part reads, with the nearest known name. */
export function unknownVariables(env: Environment): readonly string[] {
  const known = Object.values(SECTIONS).flatMap((section) =>
    Object.values(section).map((row) => row.name),
  )
  const strangers = Object.keys(env).filter((key) => OWN_PREFIXES.test(key) && !known.includes(key))
  return strangers.map((stranger) => {
    const nearest = known.toSorted((a, b) => leven(stranger, a) - leven(stranger, b))[0]
    return `${stranger} is not a known variable; did you mean ${nearest}?`
  })
}

/**
 * Reads the `JWT_*` variables alone, for an app that mounts the auth middleware.
 * @throws ConfigError naming every wrong variable (seed: "Boot-time validation is fatal")
 */
export function loadAuthConfig(env: Environment = process.env): AuthConfig {
  const problems: string[] = []
  const auth = readAuth(env, problems)
  if (problems.length > 0) throw new ConfigError(problems)
  return auth
}

/**
 * Reads the `MERCURE_*` variables alone, for an app that mounts the hub.
 * @throws ConfigError naming every wrong setting
 */
export function loadHubConfig(env: Environment = process.env): HubConfig {
  const problems: string[] = []
  const hub = readHub(env, problems)
  if (problems.length > 0) throw new ConfigError(problems)
  return hub
}

/**
 * Reads the `PUBSUB_*` variables alone, for the offline commands.
 * @throws ConfigError naming every wrong variable
 */
export function loadPubsubConfig(env: Environment = process.env): PubsubConfig {
  const problems: string[] = []
  const pubsub = readSection(env, PUBSUB_VARIABLES, problems)
  if (problems.length > 0) throw new ConfigError(problems)
  return pubsub
}

/**
 * Reads the `DATABASE_*` variables alone, for the offline commands. `switches` are set by the command line.
 * @throws ConfigError naming every wrong variable
 */
export function loadDatabaseConfig(
  switches: Environment = {},
  env: Environment = process.env,
): DatabaseConfig {
  const problems: string[] = []
  const database = readSection({ ...env, ...switches }, DATABASE_VARIABLES, problems)
  if (problems.length > 0) throw new ConfigError(problems)
  return database
}

/**
 * Reads the whole environment once. `switches` are variables that the command line sets; they win.
 * @throws ConfigError naming every wrong variable, not only the first
 */
export function loadConfig(
  environment: Environment = process.env,
  switches: Environment = {},
): Config {
  const env = { ...environment, ...switches }
  const problems: string[] = []
  const server = readSection(env, SERVER_VARIABLES, problems)
  checkTls(server, problems)
  const database = readSection(env, DATABASE_VARIABLES, problems)
  const auth = readAuth(env, problems)
  const queue = readSection(env, QUEUE_VARIABLES, problems)
  const hub = readHub(env, problems)
  const operations = readSection(env, OPERATIONS_VARIABLES, problems)
  const pubsub = readSection(env, PUBSUB_VARIABLES, problems)
  if (problems.length > 0) throw new ConfigError(problems)
  const warnings = [
    ...unknownVariables(env),
    ...databaseWarnings(database),
    ...hub.warnings,
    ...pubsubWarnings(pubsub),
  ]
  return Object.freeze({ server, database, auth, queue, hub, operations, pubsub, warnings })
}
