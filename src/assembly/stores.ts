import type { Config } from '../config/index.ts'
import type { Logger } from '../http/index.ts'
import { ISSUER_SQLITE_MODULE, type IssuerStore, sqliteIssuerStore } from '../issuer/index.ts'
import {
  createQueueEngine,
  type QueueEngine,
  sqliteQueueModule,
  sqliteQueueStore,
} from '../queue/index.ts'
import { type ModuleSpec, openSqliteHost, type SqliteHost } from '../storage/index.ts'
import { BootError } from './boot-error.ts'

/** An open queue and the name of what keeps it. */
export interface OpenQueue {
  readonly engine: QueueEngine
  readonly store: string
  /** Keys and principals of the issuer, in the same store. */
  readonly issuerStore: IssuerStore
  /** Closes the engine, then its store. */
  close(): Promise<void>
}

/** What opening needs besides the configuration. */
export interface OpenOptions {
  readonly log: Logger
  readonly clock: { now(): number }
}

/** A folder that cannot be made or written is told with the system's own word for it. */
async function openHost(dataDir: string, modules: readonly ModuleSpec[]): Promise<SqliteHost> {
  try {
    return await openSqliteHost({ dataDir, modules })
  } catch (cause) {
    if (!(cause instanceof Error && 'syscall' in cause && 'code' in cause)) throw cause
    throw new BootError(`DATA_DIR: "${dataDir}" cannot be used (${String(cause.code)})`, { cause })
  }
}

/**
 * Opens the embedded store in `DATA_DIR` and the queue's engine on it.
 * @throws StoreError when the folder is in use or holds a newer schema, BootError when it cannot be used
 */
export async function openQueue(config: Config, { clock }: OpenOptions): Promise<OpenQueue> {
  const { encryptionKey } = config.queue
  const host = await openHost(config.server.dataDir, [
    sqliteQueueModule({ encryptionKey }),
    ISSUER_SQLITE_MODULE,
  ])
  try {
    const store = sqliteQueueStore(host)
    const engine = await createQueueEngine({
      store,
      config: { ...config.queue, ...config.operations },
      clock,
    })
    return {
      engine,
      store: 'sqlite',
      issuerStore: sqliteIssuerStore(host),
      async close() {
        await engine.close()
        await host.close()
      },
    }
  } catch (error) {
    await host.close()
    throw error
  }
}
