import type { ConnectionOptions } from 'node:tls'
import type { Config, DatabaseUrl } from '../config/index.ts'
import type { Logger } from '../http/index.ts'
import { HUB_PG_MODULE, postgresHubStore } from '../hub/index.ts'
import { ISSUER_PG_MODULE, postgresIssuerStore } from '../issuer/index.ts'
import { postgresQueueModule, postgresQueueStore } from '../queue/index.ts'
import { openPostgresHost, type PgHost, type PgModule, type PgTarget } from '../storage/index.ts'
import { BootError } from './boot-error.ts'
import { refuse } from './database-fault.ts'
import { ListenCheck } from './listen-check.ts'
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
  let check: ListenCheck | undefined
  const host = await openPostgresHost({
    ...{ target, ...listening, modules, pooler, poolSize, connectTimeoutMs, statementTimeoutMs },
    onConnectionError(error, connection) {
      log.warn({ reason: error.message, connection }, 'database connection lost')
      if (connection === 'listen') check?.lost(error)
    },
  }).catch((error: unknown) => refuse(url, error))
  if (database.listenUrl === undefined) return host
  check = new ListenCheck(host, { url, listenUrl: database.listenUrl, log })
  return check.proven()
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
