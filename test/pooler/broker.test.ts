import { onTestFinished, test } from 'vitest'
import { startTestBroker } from '../support/broker.ts'
import { startPooler } from '../support/postgres/pooler.ts'
import { createDatabase, urlOf } from '../support/postgres.ts'
import { pushNames, take } from '../support/traffic.ts'

test('brokers with DATABASE_POOLER wake each other past the pooler', async ({ expect }) => {
  const database = await createDatabase()
  const pooler = await startPooler(database.target)
  const env = {
    DATABASE_URL: urlOf(pooler.target),
    DATABASE_LISTEN_URL: database.url,
    DATABASE_POOLER: 'true',
  }
  const [here, there] = await Promise.all([startTestBroker(env), startTestBroker(env)])
  onTestFinished(async () => {
    await Promise.all([here.stop(), there.stop()])
    await pooler.stop()
    await database.drop()
  })
  await pushNames(here.call, 'q', ['a'])
  expect((await take(there.call, 'q')).ids).toEqual(['a'])
  const waiting = there.call('GET /api/v1/pop/queue/woken?wait=true&timeout=50000')
  await pushNames(here.call, 'woken', ['b'])
  expect((await waiting).body.messages[0].transactionId).toBe('b')
})
