import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { HUB_MODULE, sqliteHubStore } from '../../src/hub/index.ts'
import { openSqliteHost } from '../../src/storage/index.ts'
import { hubStoreContract, type TestHubStore } from './store-contract.ts'

async function openIn(dataDir: string, historySize: number): Promise<TestHubStore> {
  const host = await openSqliteHost({ dataDir, modules: [HUB_MODULE] })
  const store = sqliteHubStore(host, { historySize })
  const end = async () => {
    await store.close()
    await host.close()
  }
  return {
    store,
    async reopen() {
      await end()
      return openIn(dataDir, historySize)
    },
    async close() {
      await end()
      await rm(dataDir, { recursive: true })
    },
  }
}

hubStoreContract('the embedded history', async (historySize) =>
  openIn(await mkdtemp(join(tmpdir(), 'hivegate-hub-')), historySize),
)
