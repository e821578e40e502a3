import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { HUB_PG_MODULE, postgresHubStore } from '../../src/hub/index.ts'
import { ISSUER_PG_MODULE, postgresIssuerStore } from '../../src/issuer/index.ts'
import { openPostgresHost, type PgHost, type PgModule } from '../../src/storage/index.ts'
import { hubStoreContract, type TestHubStore, update } from '../hub/store-contract.ts'
import { issuerStoreContract } from '../issuer/store-contract.ts'
import { startPooler, type TestPooler } from '../support/postgres/pooler.ts'
import { createDatabase, type TestDatabase } from '../support/postgres.ts'

let first: TestDatabase
let pooler: TestPooler
beforeAll(async () => {
  first = await createDatabase()
  pooler = await startPooler(first.target)
})
afterAll(async () => {
  await pooler.stop()
  await first.drop()
})

/** A host whose statements go through the pooler; only LISTEN goes past it. */
function open(database: TestDatabase, module: PgModule): Promise<PgHost> {
  const target = { ...pooler.target, database: database.target.database }
  const listenTarget = database.target
  return openPostgresHost({ target, listenTarget, modules: [module], pooler: true })
}

async function openHub(database: TestDatabase, historySize: number): Promise<TestHubStore> {
  const host = await open(database, HUB_PG_MODULE)
  const store = postgresHubStore(host, { historySize, checkMs: 60_000 })
  const end = async () => {
    await store.close()
    await host.close()
  }
  return {
    store,
    async reopen() {
      await end()
      return openHub(database, historySize)
    },
    async close() {
      await end()
      await database.drop()
    },
  }
}

describe('through a pooler in transaction mode', () => {
  hubStoreContract('the history of the hub', async (historySize) =>
    openHub(await createDatabase(), historySize),
  )

  issuerStoreContract('PostgreSQL', async () => {
    const database = await createDatabase()
    const host = await open(database, ISSUER_PG_MODULE)
    return {
      store: postgresIssuerStore(host),
      async close() {
        await host.close()
        await database.drop()
      },
    }
  })

  test('brokers hear each other on the connections past it', async () => {
    const database = await createDatabase()
    const [speaker, hearer] = [await openHub(database, 0), await openHub(database, 0)]
    onTestFinished(async () => {
      await speaker.close()
      await hearer.close()
    })
    const heard = new Promise((resolve) => void hearer.store.open(resolve))
    await speaker.store.open(() => {})
    await speaker.store.append(update('1'), false)
    expect(await heard).toEqual({ ...update('1'), seq: 1 })
  })

  test('nothing of a statement or a transaction is left in the session', async () => {
    const host = await open(first, HUB_PG_MODULE)
    onTestFinished(() => host.close())
    await host.transaction((tx) => tx.rows('named', 'SELECT 1'))
    await Promise.all(Array.from({ length: 20 }, () => host.rows('named', 'SELECT 2')))
    const left = `SELECT count(*) AS n, current_setting('statement_timeout') AS timeout
      FROM pg_prepared_statements`
    expect(await host.rows('left', left)).toEqual([{ n: 0, timeout: '0' }])
  })
})
