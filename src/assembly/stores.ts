import type { Config } from '../config/index.ts'
import type { Logger } from '../http/index.ts'
import {
  createQueueEngine,
  type Operations,
  type QueueEngine,
  sqliteQueueModule,
  sqliteQueueStore,
} from '../queue/index.ts'
import { openSqliteHost, type SqliteHost } from '../storage/index.ts'
import { BootError } from './boot-error.ts'
import { WING_MODULES } from './wings.ts'

/**
 * Opens the embedded store in `DATA_DIR` with the tables of every wing.
 * @throws StoreError when the folder is in use or holds a newer schema, BootError when it cannot be used
 */
export async function openStore({ server, database, queue }: Config): Promise<SqliteHost> {
  // Data must not land in another store than the one that the operator named.
  if (database.url !== undefined) throw new BootError('DATABASE_URL: not served yet')
  const { dataDir } = server
  const { encryptionKey } = queue
  try {
    const modules = [sqliteQueueModule({ encryptionKey }), ...WING_MODULES]
    return await openSqliteHost({ dataDir, modules })
  } catch (cause) {
    // A folder that cannot be made or written is told with the system's own word for it.
    if (!(cause instanceof Error && 'syscall' in cause && 'code' in cause)) throw cause
    throw new BootError(`DATA_DIR: "${dataDir}" cannot be used (${String(cause.code)})`, { cause })
  }
}

/** What the engine needs besides its store. */
export interface EngineParts {
  readonly log: Logger
  readonly clock: { now(): number }
  /** What the engine reports to. */
  readonly operations: Operations
}

/** Makes the queue's engine on the open store. */
export function openQueue(
  config: Config,
  host: SqliteHost,
  { log, clock, operations }: EngineParts,
): Promise<QueueEngine> {
  return createQueueEngine({
    store: sqliteQueueStore(host),
    config: { ...config.queue, ...config.operations },
    clock,
    observer: operations.observer,
    onBatch: operations.onBatch,
    onDrainError: (err) => log.error({ err }, 'a buffered push could not be replayed'),
  })
}
