import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe } from 'vitest'
import { sqliteQueueModule, sqliteQueueStore } from '../../src/queue/stores/sqlite/index.ts'
import {
  type ModuleSpec,
  openInlineHost,
  openSqliteHost,
  type SqliteHost,
} from '../../src/storage/index.ts'
import type { StoreFactory } from './store-contract/bench.ts'
import { storeContract } from './store-contract/index.ts'
import { transactionContract } from './store-contract/transaction.ts'

type Open = (dataDir: string, modules: readonly ModuleSpec[]) => Promise<SqliteHost>

/** Stores in folders of their own. */
function stores(openHost: Open): StoreFactory {
  return async (encryptionKey) => {
    const dataDir = mkdtempSync(join(tmpdir(), 'hivegate-queue-'))
    const start = (key: string): Promise<SqliteHost> =>
      openHost(dataDir, [sqliteQueueModule({ encryptionKey: key })])
    let host = await start(encryptionKey)
    return {
      store: sqliteQueueStore(host),
      async reopen(key = encryptionKey) {
        await host.close()
        host = await start(key)
        return sqliteQueueStore(host)
      },
      async close() {
        await host.close()
        rmSync(dataDir, { recursive: true, force: true })
      },
    }
  }
}

describe('the embedded store on a file', () => {
  storeContract(stores((dataDir, modules) => openInlineHost(modules, join(dataDir, 'queue.db'))))
})

describe('the embedded store in its threads', () => {
  transactionContract(stores((dataDir, modules) => openSqliteHost({ dataDir, modules })))
})
