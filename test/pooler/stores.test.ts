import { describe, expect, onTestFinished, test } from 'vitest'
import { HUB_PG_MODULE } from '../../src/hub/index.ts'
import { openPostgresHost } from '../../src/storage/index.ts'
import { openHistory, postgresHistories } from '../hub/postgres-histories.ts'
import { hubStoreContract, update } from '../hub/store-contract.ts'
import { postgresRegistries } from '../issuer/postgres-registries.ts'
import { issuerStoreContract } from '../issuer/store-contract.ts'
import { throughPooler } from '../support/postgres/pooler.ts'
import { createDatabase } from '../support/postgres.ts'

describe('through a pooler in transaction mode', () => {
  const pooled = throughPooler()

  hubStoreContract('the history of the hub', postgresHistories(pooled))

  issuerStoreContract('PostgreSQL', postgresRegistries(pooled))

  test('brokers hear each other on the connections past it', async () => {
    const database = await createDatabase()
    const speaker = await openHistory(database, 0, pooled)
    const hearer = await openHistory(database, 0, pooled)
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
    const database = await createDatabase()
    const host = await openPostgresHost({
      ...{ target: database.target, modules: [HUB_PG_MODULE] },
      ...(await pooled(database)),
    })
    onTestFinished(async () => {
      await host.close()
      await database.drop()
    })
    await host.transaction((tx) => tx.rows('named', 'SELECT 1'))
    await Promise.all(Array.from({ length: 20 }, () => host.rows('named', 'SELECT 2')))
    const left = `SELECT count(*) AS n, current_setting('statement_timeout') AS timeout
      FROM pg_prepared_statements`
    expect(await host.rows('left', left)).toEqual([{ n: 0, timeout: '0' }])
  })
})
