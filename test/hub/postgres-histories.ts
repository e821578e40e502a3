import { HUB_PG_MODULE, postgresHubStore } from '../../src/hub/index.ts'
import { openPostgresHost, type PgHostOptions } from '../../src/storage/index.ts'
import { createDatabase, type TestDatabase } from '../support/postgres.ts'
import { type TestHubStore, testHubStore } from './store-contract.ts'

/** How hosts are opened where it is not as always, such as through a pooler. */
type Usual = (database: TestDatabase) => Promise<Partial<PgHostOptions>>

/** Opens the history in a database: one more process, as it were. `close` removes the database. */
export async function openHistory(
  database: TestDatabase,
  historySize: number,
  usual: Usual = async () => ({}),
): Promise<TestHubStore> {
  const options = await usual(database)
  const place = { target: database.target, modules: [HUB_PG_MODULE] }
  const open = async () => {
    const host = await openPostgresHost({ ...place, ...options })
    const store = postgresHubStore(host, { historySize })
    const end = async () => {
      await store.close()
      await host.close()
    }
    return { store, end }
  }
  return testHubStore(open, () => database.drop())
}

/** Histories for the contract, each in a database of its own. */
export function postgresHistories(usual?: Usual): (historySize: number) => Promise<TestHubStore> {
  return async (historySize) => openHistory(await createDatabase(), historySize, usual)
}
