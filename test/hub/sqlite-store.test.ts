import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { HUB_MODULE, sqliteHubStore } from '../../src/hub/index.ts'
import { openSqliteHost } from '../../src/storage/index.ts'
import { hubStoreContract, testHubStore } from './store-contract.ts'

hubStoreContract('the embedded history', async (historySize) => {
  const dataDir = await mkdtemp(join(tmpdir(), 'hivegate-hub-'))
  const open = async () => {
    const host = await openSqliteHost({ dataDir, modules: [HUB_MODULE] })
    const store = sqliteHubStore(host, { historySize })
    const end = async () => {
      await store.close()
      await host.close()
    }
    return { store, end }
  }
  return testHubStore(open, () => rm(dataDir, { recursive: true }))
})
