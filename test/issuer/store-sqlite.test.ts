import { mkdtempSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ISSUER_SQLITE_MODULE, sqliteIssuerStore } from '../../src/issuer/index.ts'
import { openSqliteHost } from '../../src/storage/index.ts'
import { issuerStoreContract } from './store-contract.ts'

issuerStoreContract('SQLite', async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'hivegate-issuer-store-'))
  const host = await openSqliteHost({ dataDir, modules: [ISSUER_SQLITE_MODULE] })
  return {
    store: sqliteIssuerStore(host),
    async close() {
      await host.close()
      await rm(dataDir, { recursive: true })
    },
  }
})
