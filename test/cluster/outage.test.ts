import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startTestBroker, type TestBroker } from '../support/broker.ts'
import { HUB_ON, publishTo, subscribeTo } from '../support/hub/broker.ts'
import { ownCluster } from '../support/postgres/own-cluster.ts'
import { queryOn, targetOn } from '../support/postgres.ts'

const cluster = ownCluster()
let broker: TestBroker
beforeAll(async () => {
  const { url } = await cluster.createDatabase()
  broker = await startTestBroker({
    ...HUB_ON,
    ...{ DATABASE_URL: url, DATABASE_CONNECT_TIMEOUT: '2s', DATABASE_POOL_SIZE: '6' },
  })
})
afterAll(() => broker.stop())

const push = (transactionId: string) =>
  broker.call('POST /api/v1/push', {
    json: { items: [{ queue: 'q', payload: transactionId, transactionId }] },
  })

async function healthy(): Promise<void> {
  while ((await broker.call('GET /health')).status !== 200) await pause(20)
}

/** Everything in the queue, in order. */
async function drained(): Promise<readonly string[]> {
  const { body } = await broker.call('GET /api/v1/pop/queue/q?batch=1000&autoAck=true')
  return (body?.messages ?? []).map(({ data }: { data: string }) => data)
}

test('while the database is away requests are 503 with Retry-After and health says so; then all goes on', async () => {
  const stream = await subscribeTo(broker, 'match=t')
  expect((await push('before')).status).toBe(201)
  await cluster.crash()
  const away = await push('away')
  expect([away.status, away.headers.get('retry-after')]).toEqual([503, '1'])
  expect((await broker.call('GET /api/v1/pop/queue/q')).status).toBe(503)
  expect((await broker.call('GET /api/v1/resources/queues')).status).toBe(503)
  // Hub protocol, section 12: an update that could not be stored is 500.
  expect((await publishTo(broker, { topic: 't', data: 'away' })).status).toBe(500)
  const health = await broker.call('GET /health')
  expect([health.status, health.body.database]).toEqual([503, 'disconnected'])
  await cluster.start()
  await healthy()
  // The client repeats what got no answer; whatever of it was stored is not stored twice.
  expect((await push('before')).body[0].status).toBe('duplicate')
  expect((await push('away')).status).toBe(201)
  expect(await drained()).toEqual(['before', 'away'])
  expect((await publishTo(broker, { topic: 't', data: 'back' })).status).toBe(200)
  expect((await stream.next()).data).toBe('back')
})

test('connections that the server ends under load lose and double no push that was answered', async () => {
  const pushed: string[] = []
  let open = true
  const pushing = Array.from({ length: 4 }, async (_, who) => {
    for (let at = 0; open; at += 1) {
      const id = `${who}-${at}`
      // Tried again until it is answered, as every client does.
      while ((await push(id)).status === 503) await pause(5)
      pushed.push(id)
    }
  })
  const killing = `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
    WHERE application_name LIKE 'hivegate%'`
  for (let round = 0; round < 20; round += 1) {
    const target = pushed.length + 10
    while (pushed.length < target) await pause(5)
    await queryOn(targetOn(cluster.address, 'postgres'), killing)
  }
  open = false
  await Promise.all(pushing)
  await healthy()
  const seen: string[] = []
  for (let batch = await drained(); batch.length > 0; batch = await drained()) seen.push(...batch)
  expect(seen.toSorted()).toEqual(pushed.toSorted())
  for (const who of [0, 1, 2, 3]) {
    const own = seen.filter((id) => id.startsWith(`${who}-`))
    expect(own).toEqual(Array.from({ length: own.length }, (_, at) => `${who}-${at}`))
  }
  expect(broker.lines.filter((line) => line.includes('"level":"fatal"'))).toEqual([])
})
