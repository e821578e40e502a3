import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { statusBuffers } from '../../../src/queue/shapes/status.ts'
import {
  interInstanceStats,
  notifyQueue,
  refreshStats,
  setMaintenance,
  setPopMaintenance,
  sharedState,
  sharedStateStats,
  showMaintenance,
  showPopMaintenance,
} from '../../../src/queue/shapes/system.ts'
import { described, startTestBroker, type TestBroker } from '../../support/broker.ts'
import { buffered, pushNames, take, until } from '../../support/traffic.ts'

let broker: TestBroker
beforeEach(async () => {
  broker = await startTestBroker({ WORKER_ID: 'w' })
})
afterEach(() => broker.stop())

async function pushMaintenance(enabled: boolean) {
  const reply = await broker.call('POST /api/v1/system/maintenance', { json: { enabled } })
  return described(setMaintenance, 200, reply)
}

async function popMaintenance(enabled: boolean) {
  const reply = await broker.call('POST /api/v1/system/maintenance/pop', { json: { enabled } })
  return described(setPopMaintenance, 200, reply)
}

const NOT_BOOLEANS = [{}, { enabled: 'true' }, { enabled: 1 }, { enabled: null }, [], '{"enabled"']

describe('push maintenance', () => {
  it('is off at first', async () => {
    const reply = await broker.call('GET /api/v1/system/maintenance')
    expect(described(showMaintenance, 200, reply)).toEqual({
      maintenanceMode: false,
      popMaintenanceMode: false,
      bufferedMessages: 0,
      bufferHealthy: true,
      bufferStats: { pending: 0, failed: 0, oldestBufferedAt: null },
    })
  })

  it('diverts pushes while it is on and replays them in order when it ends', async () => {
    expect(await pushMaintenance(true)).toMatchObject({
      maintenanceMode: true,
      bufferedMessages: 0,
      bufferHealthy: true,
    })
    const items = [{ queue: 'q', payload: 1, transactionId: 'a' }]
    const pushed = await broker.call('POST /api/v1/push', { json: { items } })
    expect([pushed.status, pushed.body]).toEqual([
      201,
      [
        {
          index: 0,
          transaction_id: 'a',
          message_id: expect.any(String),
          status: 'buffered',
          queueName: 'q',
          queue: 'q',
          partition: 'Default',
          transactionId: 'a',
        },
      ],
    ])
    await pushNames(broker.call, 'q', ['b', 'c'])
    expect((await take(broker.call, 'q')).ids).toEqual([])
    const state = await broker.call('GET /api/v1/system/maintenance')
    expect(described(showMaintenance, 200, state)).toMatchObject({
      maintenanceMode: true,
      bufferedMessages: 3,
      bufferStats: { pending: 3, failed: 0, oldestBufferedAt: expect.stringMatching(/Z$/) },
    })
    const buffers = await broker.call('GET /api/v1/status/buffers')
    expect(described(statusBuffers, 200, buffers)).toEqual({
      pending: 3,
      failed: 0,
      dbHealthy: true,
      worker: 'w',
    })
    await pushMaintenance(false)
    await until(
      () => buffered(broker),
      (left) => left === 0,
    )
    expect((await take(broker.call, 'q')).ids).toEqual(['a', 'b', 'c'])
  })

  it('wakes a waiting pop when the buffer drains', async () => {
    await pushMaintenance(true)
    await pushNames(broker.call, 'q', ['a'])
    const waiting = broker.call('GET /api/v1/pop/queue/q?wait=true&timeout=20000')
    await pushMaintenance(false)
    expect((await waiting).body.messages).toMatchObject([{ transactionId: 'a' }])
  })

  it('answers a replay of a dead letter 503 while it is on', async () => {
    await pushNames(broker.call, 'q', ['a'])
    const { partitionId } = await take(broker.call, 'q')
    await broker.call('POST /api/v1/ack', {
      json: { partitionId, transactionId: 'a', status: 'dlq' },
    })
    await pushMaintenance(true)
    const retry = `POST /api/v1/messages/${partitionId}/a/retry`
    expect((await broker.call(retry)).status).toBe(503)
    await pushMaintenance(false)
    expect((await broker.call(retry)).status).toBe(200)
  })

  it.each(NOT_BOOLEANS)('is 400 for %j', async (json) => {
    const reply = await broker.call('POST /api/v1/system/maintenance', { json })
    described(setMaintenance, 400, reply)
  })
})

describe('pop maintenance', () => {
  it('answers every pop 204 at once, lets waiting ones go, and leaves acks alone', async () => {
    await pushNames(broker.call, 'q', ['a', 'b'])
    const taken = await take(broker.call, 'q', 1)
    const waiting = broker.call('GET /api/v1/pop/queue/empty?wait=true&timeout=30000')
    await until(
      async () => broker.broker.engine.counters().parked,
      (parked) => parked === 1,
    )
    expect(await popMaintenance(true)).toMatchObject({ popMaintenanceMode: true })
    expect((await waiting).status).toBe(204)
    for (const query of ['', '?wait=true&timeout=30000']) {
      expect((await broker.call(`GET /api/v1/pop/queue/q${query}`)).status).toBe(204)
    }
    const { partitionId, leaseId } = taken
    const json = { partitionId, leaseId, transactionId: 'a' }
    expect((await broker.call('POST /api/v1/ack', { json })).body[0].success).toBe(true)
    const state = await broker.call('GET /api/v1/system/maintenance/pop')
    expect(described(showPopMaintenance, 200, state)).toMatchObject({ popMaintenanceMode: true })
    await popMaintenance(false)
    expect((await take(broker.call, 'q')).ids).toEqual(['b'])
  })

  it.each(NOT_BOOLEANS)('is 400 for %j', async (json) => {
    const reply = await broker.call('POST /api/v1/system/maintenance/pop', { json })
    described(setPopMaintenance, 400, reply)
  })
})

describe('what is shared between processes', () => {
  it('is nothing on one node, with the switches beside it', async () => {
    await popMaintenance(true)
    const state = {
      enabled: false,
      reason: expect.any(String),
      maintenance_mode: false,
      pop_maintenance_mode: true,
    }
    const shared = await broker.call('GET /api/v1/system/shared-state')
    expect(described(sharedState, 200, shared)).toEqual(state)
    const stats = await broker.call('GET /internal/api/shared-state/stats')
    expect(described(sharedStateStats, 200, stats)).toEqual(state)
    const between = await broker.call('GET /internal/api/inter-instance/stats')
    expect(described(interInstanceStats, 200, between)).toMatchObject({ enabled: false })
  })
})

describe('POST /internal/api/notify', () => {
  it('is ok for any queue, with and without a partition', async () => {
    for (const json of [{ queue: 'q' }, { queue: 'q', partition: 'p' }]) {
      const reply = await broker.call('POST /internal/api/notify', { json })
      expect(described(notifyQueue, 200, reply)).toEqual({ status: 'ok' })
    }
  })

  it.each([{}, { queue: '' }, { queue: 5 }, { partition: 'p' }])('is 400 for %j', async (json) => {
    described(notifyQueue, 400, await broker.call('POST /internal/api/notify', { json }))
  })
})

describe('POST /api/v1/stats/refresh', () => {
  it('says how many rows of each kind there are, with or without a body', async () => {
    await pushNames(broker.call, 'n.t', ['a'])
    for (const call of [{}, { json: {} }]) {
      const reply = await broker.call('POST /api/v1/stats/refresh', call)
      expect(described(refreshStats, 200, reply)).toEqual({
        partition: 1,
        queue: 1,
        namespace: 1,
        task: 1,
        system: 1,
        cleanup: 0,
      })
    }
  })

  it('is 400 for malformed JSON', async () => {
    const reply = await broker.call('POST /api/v1/stats/refresh', { json: '{' })
    expect(reply.status).toBe(400)
  })
})
