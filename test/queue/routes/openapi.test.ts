import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ApiDocument } from '../../support/api-document.ts'
import {
  JWT_ON,
  lastingToken,
  type Reply,
  startTestBroker,
  type TestBroker,
} from '../../support/broker.ts'
import { HUB_PATHS, ISSUER_PATHS } from '../../support/route-rows.ts'

let broker: TestBroker
let api: ApiDocument
beforeAll(async () => {
  broker = await startTestBroker()
  api = await ApiDocument.load(broker.call)
})
afterAll(() => broker.stop())

/** Calls a route and checks the answer against the document. */
async function checked(route: string, json?: unknown): Promise<Reply> {
  const reply = await broker.call(route, json === undefined ? {} : { json })
  const [method = '', target = ''] = route.split(' ')
  const path = target.split('?')[0] ?? ''
  expect(api.faults(method, path, reply.status, reply.body), `${route}: ${reply.status}`).toBe(
    undefined,
  )
  return reply
}

describe('live answers are as documented', () => {
  it('for the data plane', async () => {
    await checked('POST /api/v1/configure', { queue: 'q', options: { retryLimit: 0 } })
    await checked('POST /api/v1/configure', {})
    const items = ['a', 'b', 'c'].map((name) => ({
      queue: 'q',
      payload: name,
      transactionId: name,
    }))
    await checked('POST /api/v1/push', { items })
    await checked('POST /api/v1/push', { items })
    await checked('POST /api/v1/push', {})
    const { body } = await checked('GET /api/v1/pop/queue/q?batch=2')
    const { partitionId, leaseId } = body
    await checked(`POST /api/v1/lease/${leaseId}/extend`, {})
    await checked('POST /api/v1/ack', { partitionId, leaseId, transactionId: 'a' })
    const failed = { partitionId, leaseId, transactionId: 'b', status: 'failed', error: 'e' }
    await checked('POST /api/v1/ack/batch', { acknowledgments: [failed] })
    await checked('POST /api/v1/ack', {})
    await checked('GET /api/v1/pop/queue/q/partition/Default?consumerGroup=g')
    await checked('GET /api/v1/pop')
    await checked('GET /api/v1/pop?namespace=q')
    const operations = [{ type: 'push', items: [{ queue: 'q', payload: 1 }] }]
    await checked('POST /api/v1/transaction', { operations })
    await checked('POST /api/v1/transaction', { operations: [] })
  })

  it('for groups, dead letters and resources', async () => {
    await checked('GET /api/v1/consumer-groups')
    await checked('GET /api/v1/consumer-groups/lagging?minLagSeconds=0')
    await checked('GET /api/v1/consumer-groups/g')
    const now = new Date().toISOString()
    await checked('POST /api/v1/consumer-groups/g/subscription', { subscriptionTimestamp: now })
    await checked('POST /api/v1/consumer-groups/g/queues/q/seek', { toEnd: true })
    await checked('POST /api/v1/consumer-groups/g/queues/nowhere/seek', { toEnd: true })
    await checked('POST /api/v1/consumer-groups/g/queues/q/partitions/Default/seek')
    await checked('DELETE /api/v1/consumer-groups/g/queues/q')
    await checked('DELETE /api/v1/consumer-groups/g')
    const { body } = await checked('GET /api/v1/dlq')
    await checked(`POST /api/v1/dlq/${body.messages[0].id}/replay`, {})
    await checked(`POST /api/v1/dlq/${body.messages[0].id}/replay`, {})
    await checked('DELETE /api/v1/dlq?queue=q')
    await checked('DELETE /api/v1/dlq')
    await checked('GET /api/v1/resources/queues')
    await checked('GET /api/v1/resources/queues/q')
    await checked('GET /api/v1/resources/queues/nowhere')
    await checked('GET /api/v1/resources/queues/q/depth')
    await checked('GET /api/v1/resources/namespaces')
    await checked('GET /api/v1/resources/tasks')
    await checked('GET /api/v1/resources/overview')
    await checked('GET /api/v1/resources/partitions')
  })

  it('for messages and traces', async () => {
    await checked('POST /api/v1/push', { items: [{ queue: 'm', payload: 1, transactionId: 't' }] })
    const { body } = await checked('GET /api/v1/messages?queue=m')
    const { partitionId } = body.messages[0]
    const address = `${partitionId}/t`
    await checked(`GET /api/v1/messages/${address}`)
    await checked('GET /api/v1/messages/x/y')
    const trace = { partitionId, transactionId: 't', data: {}, traceNames: 'n' }
    await checked('POST /api/v1/traces', trace)
    await checked('POST /api/v1/traces', {})
    await checked('GET /api/v1/traces/names')
    await checked('GET /api/v1/traces/by-name/n')
    await checked(`GET /api/v1/traces/${address}`)
    await checked('GET /api/v1/status/queues/m/messages')
    await checked(`POST /api/v1/messages/${address}/dlq`, {})
    await checked(`POST /api/v1/messages/${address}/retry`, {})
    await checked(`DELETE /api/v1/messages/${address}`)
    await checked(`DELETE /api/v1/messages/${address}`)
  })

  it('for status, analytics, system and the internal routes', async () => {
    for (const route of [
      ...['', '/queues', '/queues/m', '/analytics', '/buffers'].map((end) => `/status${end}`),
      ...['system-metrics', 'worker-metrics', 'queue-lag', 'queue-ops'].map(
        (name) => `/analytics/${name}`,
      ),
      ...['queue-parked-replicas', 'retention', 'postgres-stats'].map(
        (name) => `/analytics/${name}`,
      ),
    ]) {
      await checked(`GET /api/v1${route}`)
    }
    await checked('POST /api/v1/stats/refresh', {})
    for (const path of ['/api/v1/system/maintenance', '/api/v1/system/maintenance/pop']) {
      await checked(`GET ${path}`)
      await checked(`POST ${path}`, { enabled: true })
      await checked(`POST ${path}`, {})
    }
    await checked('POST /api/v1/push', { items: [{ queue: 'm', payload: 1 }] })
    for (const path of ['/api/v1/system/maintenance', '/api/v1/system/maintenance/pop']) {
      await checked(`POST ${path}`, { enabled: false })
    }
    await checked('GET /api/v1/system/shared-state')
    await checked('GET /internal/api/shared-state/stats')
    await checked('GET /internal/api/inter-instance/stats')
    await checked('POST /internal/api/notify', { queue: 'm' })
    for (const path of ['/health', '/status', '/metrics', '/openapi.json', '/auth/me']) {
      await checked(`GET ${path}`)
    }
    await checked('POST /auth/logout')
    await checked('DELETE /api/v1/queues/m/clear')
    await checked('DELETE /api/v1/resources/queues/m')
    await checked('DELETE /api/v1/resources/queues/m')
  })

  it('for streams', async () => {
    const query = { name: 'n', source_queue: 's', config_hash: 'h' }
    const { body } = await checked('POST /streams/v1/queries', query)
    await checked('POST /streams/v1/queries', { ...query, config_hash: 'i' })
    await checked('POST /streams/v1/queries', {})
    const configured = await checked('POST /api/v1/configure', { queue: 's' })
    const base = { query_id: body.query_id, partition_id: configured.body.partitionId }
    const state_ops = [{ type: 'upsert', key: 'k', value: 1 }]
    await checked('POST /streams/v1/cycle', {
      ...base,
      state_ops,
      push_items: [{ queue: 'sink', payload: 1 }],
    })
    await checked('POST /streams/v1/cycle', { ...base, query_id: 'x' })
    await checked('POST /streams/v1/cycle', {})
    await checked('POST /streams/v1/state/get', base)
    await checked('POST /streams/v1/state/get', {})
  })

  it('and every documented JSON route of the queue was called', () => {
    // The hub's answers are checked in test/hub/operations.test.ts, the issuer's in test/issuer/broker.test.ts.
    const queue = Object.entries(api.document.paths).filter(
      ([path]) => !HUB_PATHS.test(path) && !ISSUER_PATHS.test(path),
    )
    const described = queue.flatMap(([template, item]) =>
      Object.entries(item)
        .filter(([, { responses }]) =>
          Object.entries(responses).some(
            ([status, { content }]) => status < '300' && content?.['application/json'],
          ),
        )
        .map(([method]) => `${method.toUpperCase()} ${template}`),
    )
    expect(described.filter((one) => !api.visited.has(one))).toEqual([])
  })

  it('for the 401 and the 403 of the gate', async () => {
    const guarded = await startTestBroker(JWT_ON)
    for (const token of [undefined, lastingToken('write-only')]) {
      const reply = await guarded.call('GET /api/v1/status', token === undefined ? {} : { token })
      expect(reply.status).toBe(token === undefined ? 401 : 403)
      expect(api.faults('GET', '/api/v1/status', reply.status, reply.body)).toBe(undefined)
    }
    await guarded.stop()
  })
})
