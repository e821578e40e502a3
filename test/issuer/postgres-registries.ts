import { ISSUER_PG_MODULE, postgresIssuerStore } from '../../src/issuer/index.ts'
import { openPostgresHost, type PgHostOptions } from '../../src/storage/index.ts'
import { createDatabase, type TestDatabase } from '../support/postgres.ts'
import type { OpenedStore } from './store-contract.ts'

/** Issuer stores for the contract, each in a database of its own; `usual` says how hosts are opened. */
export function postgresRegistries(
  usual: (database: TestDatabase) => Promise<Partial<PgHostOptions>> = async () => ({}),
): () => Promise<OpenedStore> {
  return async () => {
    const database = await createDatabase()
    const options = await usual(database)
    const place = { target: database.target, modules: [ISSUER_PG_MODULE] }
    const host = await openPostgresHost({ ...place, ...options })
    return {
      store: postgresIssuerStore(host),
      async close() {
        await host.close()
        await database.drop()
      },
    }
  }
}
