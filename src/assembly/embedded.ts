import type { Config } from '../config/index.ts'
import { HUB_MODULE, sqliteHubStore } from '../hub/index.ts'
import { ISSUER_SQLITE_MODULE, sqliteIssuerStore } from '../issuer/index.ts'
import { sqliteQueueModule, sqliteQueueStore } from '../queue/index.ts'
import {
  type ModuleSpec,
  openSqliteHost,
  type SqliteHost,
  StoreFailedError,
} from '../storage/index.ts'
import { BootError } from './boot-error.ts'
import type { Stores } from './stores.ts'

/** The tables of every wing in the embedded store. */
export function sqliteModules(encryptionKey: string): readonly ModuleSpec[] {
  return [sqliteQueueModule({ encryptionKey }), HUB_MODULE, ISSUER_SQLITE_MODULE]
}

/** What is wrong with the folder, in a few words; undefined for an error that says it all itself. */
function folderFault(error: unknown): string | undefined {
  if (error instanceof StoreFailedError) return error.reason
  // A folder that cannot be made or written is told with the system's own word for it.
  return error instanceof Error && 'syscall' in error && 'code' in error
    ? String(error.code)
    : undefined
}

async function openHost({ server, queue }: Config): Promise<SqliteHost> {
  const { dataDir } = server
  const { encryptionKey } = queue
  try {
    return await openSqliteHost({ dataDir, modules: sqliteModules(encryptionKey) })
  } catch (cause) {
    const fault = folderFault(cause)
    if (fault === undefined) throw cause
    throw new BootError(`DATA_DIR: "${dataDir}" cannot be used (${fault})`, { cause })
  }
}

/**
 * Opens the embedded store in `DATA_DIR`.
 * @throws StoreError when the folder is in use or holds a newer schema, BootError when it cannot be used
 */
export async function openEmbeddedStores(config: Config): Promise<Stores> {
  const host = await openHost(config)
  return {
    kind: 'sqlite',
    queue: sqliteQueueStore(host),
    issuer: sqliteIssuerStore(host),
    hub: (historySize) => sqliteHubStore(host, { historySize }),
    registryRefreshMs: 0,
    close: () => host.close(),
  }
}
