import type { ConnectionOptions } from 'node:tls'
import type { Config, DatabaseUrl } from '../config/index.ts'
import type { Logger } from '../http/index.ts'
import { HUB_PG_MODULE, postgresHubStore } from '../hub/index.ts'
import { ISSUER_PG_MODULE, postgresIssuerStore } from '../issuer/index.ts'
import { postgresQueueModule, postgresQueueStore } from '../queue/index.ts'
import {
  openPostgresHost,
  type PgHost,
  type PgModule,
  type PgTarget,
  StoreError,
  StoreFailedError,
} from '../storage/index.ts'
import { BootError } from './boot-error.ts'
import { readNamedFile } from './read-file.ts'
import type { Stores } from './stores.ts'

/** The tables of every wing in PostgreSQL. */
export const PG_MODULES: readonly PgModule[] = [
  postgresQueueModule,
  HUB_PG_MODULE,
  ISSUER_PG_MODULE,
]

/** Longest time for which a key revoked on another broker is accepted here when its notification got lost. */
const REGISTRY_REFRESH_MS = 2000

/** Word of libpq for the certificate authorities that the system trusts. */
const SYSTEM = 'system'

/** What TLS checks; see `DatabaseTlsMode`. @throws BootError for a file that cannot be read */
function tlsOf(name: string, url: DatabaseUrl): ConnectionOptions | false {
  const { tlsMode, rootCertFile, certFile, keyFile } = url
  if (tlsMode === 'disable') return false
  const read = (path: string) => readNamedFile(name, path)
  const hasRoot = rootCertFile !== '' && rootCertFile !== SYSTEM
  return {
    ...(hasRoot && { ca: read(rootCertFile) }),
    ...(certFile !== '' && { cert: read(certFile) }),
    ...(keyFile !== '' && { key: read(keyFile) }),
    rejectUnauthorized: tlsMode !== 'require' || rootCertFile !== '',
    ...(tlsMode !== 'verify-full' && { checkServerIdentity: () => undefined }),
  }
}

/** @throws BootError for a file of the URL that cannot be read */
export function targetOf(name: string, url: DatabaseUrl): PgTarget {
  const { host, port, database, user, password } = url
  return { host, port, database, user, password, tls: tlsOf(name, url) }
}

/** The words of what is wrong: the server's own, or the system's code. Neither holds the password. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  if (error.cause !== undefined) return reasonOf(error.cause)
  // A name with several addresses fails with one error for each.
  if (error instanceof AggregateError) return reasonOf(error.errors[0])
  const coded = 'syscall' in error && 'code' in error
  return coded ? String(error.code) : error.message
}

/** @throws BootError naming `DATABASE_URL` in one line */
export function refuse(url: DatabaseUrl, cause: unknown): never {
  if (!(cause instanceof StoreError)) throw cause
  const place = `${url.host}:${url.port}/${url.database}`
  const causeSaysAll = cause.status === 503 || cause instanceof StoreFailedError
  const reason = causeSaysAll ? reasonOf(cause) : [cause.message, reasonOf(cause)]
  const words = [...new Set([reason].flat())].join(': ').replaceAll(/\s+/g, ' ')
  throw new BootError(`DATABASE_URL: the database ${place} cannot be used (${words})`, { cause })
}

/** Where to LISTEN: never through a pooler, which would hand the session on. */
function listenTargetOf({ listenUrl, pooler }: Config['database']): {
  listenTarget?: PgTarget | null
} {
  if (listenUrl !== undefined) return { listenTarget: targetOf('DATABASE_LISTEN_URL', listenUrl) }
  return pooler ? { listenTarget: null } : {}
}

async function openHost({ database }: Config, url: DatabaseUrl, log: Logger): Promise<PgHost> {
  const { pooler, poolSize, connectTimeoutMs, statementTimeoutMs } = database
  const modules = PG_MODULES
  const target = targetOf('DATABASE_URL', url)
  const listening = listenTargetOf(database)
  try {
    return await openPostgresHost({
      ...{ target, ...listening, modules, pooler, poolSize, connectTimeoutMs, statementTimeoutMs },
      onConnectionError: (error, connection) =>
        log.warn({ reason: error.message, connection }, 'database connection lost'),
    })
  } catch (error) {
    return refuse(url, error)
  }
}

/**
 * Opens the PostgreSQL database of `DATABASE_URL`.
 * @throws BootError when it cannot be reached, or holds what this version cannot use
 */
export async function openPostgresStores(config: Config, log: Logger): Promise<Stores> {
  const { url } = config.database
  if (url === undefined) throw new BootError('DATABASE_URL: is not set')
  const host = await openHost(config, url, log)
  return {
    kind: 'postgres',
    queue: postgresQueueStore(host, { encryptionKey: config.queue.encryptionKey }),
    issuer: postgresIssuerStore(host),
    hub: (historySize) => postgresHubStore(host, { historySize }),
    registryRefreshMs: REGISTRY_REFRESH_MS,
    close: () => host.close(),
  }
}
