import type { Config } from '../config/index.ts'
import type { Logger } from '../http/index.ts'
import {
  createQueueEngine,
  type QueueEngine,
  sqliteQueueModule,
  sqliteQueueStore,
} from '../queue/index.ts'
import { openSqliteHost } from '../storage/index.ts'

/** An open queue and the name of what keeps it. */
export interface OpenQueue {
  readonly engine: QueueEngine
  readonly store: string
  /** Closes the engine, then its store. */
  close(): Promise<void>
}

/** What opening needs besides the configuration. */
export interface OpenOptions {
  readonly log: Logger
  readonly clock: { now(): number }
}

/**
 * Opens the embedded store in `DATA_DIR` and the queue's engine on it.
 * @throws StoreError when the folder is in use, cannot be written, or holds a newer schema
 */
export async function openQueue(config: Config, { clock }: OpenOptions): Promise<OpenQueue> {
  const { encryptionKey } = config.queue
  const host = await openSqliteHost({
    dataDir: config.server.dataDir,
    modules: [sqliteQueueModule({ encryptionKey })],
  })
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
