import { createClient } from '@supabase/supabase-js'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { invokeMint, SERVICE_KEY } from '../issuer/issuer-app.ts'
import { startTestBroker, type TestBroker } from '../support/broker.ts'
import { HUB_ON, publishTo, subscribeTo } from '../support/hub/broker.ts'
import { ecKey } from '../support/keys.ts'
import { createDatabase, type TestDatabase } from '../support/postgres.ts'

let database: TestDatabase
let here: TestBroker
let there: TestBroker
beforeAll(async () => {
  database = await createDatabase()
  const env = {
    ...HUB_ON,
    DATABASE_URL: database.url,
    PUBSUB_JWT_PRIVATE_JWK: JSON.stringify(ecKey('cluster-1').privateJwk({ alg: 'ES256' })),
    PUBSUB_SERVICE_ROLE_KEY: SERVICE_KEY,
    PUBSUB_HUB: 'true',
  }
  // Both at once: they also make the tables together.
  const brokers = await Promise.all([startTestBroker(env), startTestBroker(env)])
  here = brokers[0]
  there = brokers[1]
})
afterAll(async () => {
  await Promise.all([here.stop(), there.stop()])
  await database.drop()
})

const push = (broker: TestBroker, queue: string, payload: unknown) =>
  broker.call('POST /api/v1/push', { json: { items: [{ queue, payload }] } })
const switchTo = (broker: TestBroker, what: string, enabled: boolean) =>
  broker.call(`POST /api/v1/system/maintenance${what}`, { json: { enabled } })

/** Asks again until the answer is as wanted; how soon that is, is the machine's affair. */
async function until(asked: () => Promise<boolean>): Promise<void> {
  while (!(await asked())) await new Promise((resolve) => setTimeout(resolve, 20))
}

describe('two brokers on one database', () => {
  it('a pop that waits on one is answered by a push on the other', async () => {
    await push(here, 'woken', 'first')
    await here.call('GET /api/v1/pop/queue/woken?autoAck=true')
    const waiting = there.call('GET /api/v1/pop/queue/woken?wait=true&timeout=50000')
    await until(async () => (await there.call('GET /metrics')).body !== undefined)
    await push(here, 'woken', 'second')
    const { status, body } = await waiting
    expect([status, body.messages[0].data]).toEqual([200, 'second'])
  })

  it('what one leased the other acknowledges, and neither delivers it twice', async () => {
    await push(here, 'leased', 1)
    const { body } = await here.call('GET /api/v1/pop/queue/leased')
    expect((await there.call('GET /api/v1/pop/queue/leased')).status).toBe(204)
    const ack = { ...body.messages[0], status: 'completed' }
    const { body: acked } = await there.call('POST /api/v1/ack', { json: ack })
    expect(acked).toMatchObject([{ success: true }])
    expect((await here.call('GET /api/v1/pop/queue/leased')).status).toBe(204)
  })

  it('options of a queue count on the other at once', async () => {
    const options = { delayedProcessing: 3600 }
    await here.call('POST /api/v1/configure', { json: { queue: 'late', options } })
    await push(there, 'late', 1)
    expect((await there.call('GET /api/v1/pop/queue/late')).status).toBe(204)
    const atOnce = { delayedProcessing: 0 }
    await here.call('POST /api/v1/configure', { json: { queue: 'late', options: atOnce } })
    expect((await there.call('GET /api/v1/pop/queue/late')).status).toBe(200)
  })

  it('pop maintenance holds on both, and ends on both', async () => {
    await push(here, 'held', 1)
    let groups = 0
    // A group of its own for each try: what one of them takes the next one gets too.
    const tryPop = async (broker: TestBroker) => {
      groups += 1
      const group = `consumerGroup=g${groups}&subscriptionMode=all`
      return (await broker.call(`GET /api/v1/pop/queue/held?${group}`)).status
    }
    await switchTo(here, '/pop', true)
    expect(await tryPop(here)).toBe(204)
    await until(async () => (await tryPop(there)) === 204)
    await switchTo(there, '/pop', false)
    await until(async () => (await tryPop(here)) === 200)
  })

  it('push maintenance diverts on both; what was diverted is there afterwards, in order', async () => {
    await switchTo(here, '', true)
    for (let at = 0; at < 6; at += 1) {
      const { body } = await push(at % 2 === 0 ? here : there, 'diverted', at)
      expect(body[0].status).toBe('buffered')
    }
    await switchTo(there, '', false)
    const seen: unknown[] = []
    await until(async () => {
      const { body } = await here.call('GET /api/v1/pop/queue/diverted?autoAck=true&batch=10')
      for (const { data } of body?.messages ?? []) seen.push(data)
      return seen.length >= 6
    })
    expect(seen).toEqual([0, 1, 2, 3, 4, 5])
  })

  it('updates reach the subscribers of both in one order, and both replay it', async () => {
    const streams = [await subscribeTo(here, 'match=t'), await subscribeTo(there, 'match=t')]
    const publishing = [here, there].map(async (broker, who) => {
      for (let at = 0; at < 20; at += 1) {
        const answer = await publishTo(broker, { topic: 't', data: `${who}-${at}` })
        expect(answer.status).toBe(200)
      }
    })
    await Promise.all(publishing)
    const [one = [], two = []] = await Promise.all(streams.map((stream) => stream.take(40)))
    expect(two).toEqual(one)
    for (const who of [0, 1]) {
      const own = one.map(({ data }) => data).filter((data) => data.startsWith(`${who}-`))
      expect(own).toEqual(Array.from({ length: 20 }, (_, at) => `${who}-${at}`))
    }
    const again = await subscribeTo(there, `match=t&last_event_id=${one[9]?.id}`)
    expect(await again.take(30)).toEqual(one.slice(10))
  })

  it('a key revoked on one ends the streams of the other', async () => {
    const admin = createClient(here.url, SERVICE_KEY)
    const { body } = await invokeMint(admin, { herd_ids: ['north'] })
    const headers = { authorization: `Bearer ${body['token']}` }
    const stream = await fetch(`${there.url}/.well-known/mercure?match=north/x`, { headers })
    expect(stream.status).toBe(200)
    await admin.rpc('revoke_pubsub_jwt_public_key', { kid: 'cluster-1' })
    // Reads to the end: only the hub can end this stream.
    expect(await stream.text()).toBe(':\n')
  })
})
