import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { DEFAULT_OPTIONS } from '../../../src/queue/model.ts'
import { configure } from '../../../src/queue/shapes/configure.ts'
import { described, startTestBroker, type TestBroker } from '../../support/broker.ts'

let broker: TestBroker
beforeAll(async () => {
  broker = await startTestBroker()
})
afterAll(() => broker.stop())

const ROUTE = 'POST /api/v1/configure'
const configured = async (json: unknown) =>
  described(configure, 200, await broker.call(ROUTE, { json }))

describe('configure', () => {
  it('creates a queue with every default and echoes all options', async () => {
    const body = await configured({ queue: 'fresh' })
    expect(body).toEqual({
      configured: true,
      queueId: expect.any(String),
      partitionId: expect.any(String),
      queue: 'fresh',
      namespace: '',
      task: '',
      options: DEFAULT_OPTIONS,
    })
  })

  it('echoes the nine options that the JavaScript client always sends, each as sent', async () => {
    const options = {
      leaseTime: 10,
      retryLimit: 0,
      priority: 7,
      delayedProcessing: 2,
      windowBuffer: 3,
      maxSize: 100,
      retentionSeconds: 60,
      completedRetentionSeconds: 30,
      encryptionEnabled: true,
    }
    const body = await configured({ queue: 'sent', namespace: null, task: null, options })
    expect(body.options).toEqual({ ...DEFAULT_OPTIONS, ...options })
  })

  it('takes options at the top level, and those under `options` first', async () => {
    const body = await configured({
      queue: 'top',
      leaseTime: 11,
      ttl: 5,
      options: { leaseTime: 12 },
    })
    expect(body.options).toMatchObject({ leaseTime: 12, ttl: 5 })
  })

  it('keeps what an absent key had, and returns a null key to its default', async () => {
    await configured({
      queue: 'merge',
      namespace: 'n',
      task: 't',
      options: { leaseTime: 9, ttl: 8 },
    })
    const body = await configured({ queue: 'merge', namespace: null, options: { ttl: null } })
    expect(body).toMatchObject({ namespace: 'n', task: 't' })
    expect(body.options).toEqual({ ...DEFAULT_OPTIONS, leaseTime: 9 })
  })

  it('returns absent keys to their defaults in replace mode', async () => {
    await configured({ queue: 'replace', options: { leaseTime: 9, ttl: 8 } })
    const body = await configured({ queue: 'replace', mode: 'replace', options: { ttl: 7 } })
    expect(body.options).toEqual({ ...DEFAULT_OPTIONS, ttl: 7 })
  })

  it('keeps the ids of a queue that exists', async () => {
    const before = await configured({ queue: 'same' })
    const after = await configured({ queue: 'same', options: { ttl: 1 } })
    expect([after.queueId, after.partitionId]).toEqual([before.queueId, before.partitionId])
  })

  it('cuts fractions, clamps minPopWaitTime to one minute and ignores unknown keys', async () => {
    const options = { leaseTime: 9.9, minPopWaitTime: 70_000, colour: 'red' }
    const body = await configured({ queue: 'odd', options })
    expect(body.options).toEqual({ ...DEFAULT_OPTIONS, leaseTime: 9, minPopWaitTime: 60_000 })
  })

  it('accepts the empty queue name', async () => {
    expect((await configured({ queue: '' })).queue).toBe('')
  })

  it.each([undefined, {}, { queue: 5 }, { queue: null }, [], '"x"', null])(
    'answers 400 "queue is required" to %j',
    async (json) => {
      const answer = await broker.call(ROUTE, { json })
      expect([answer.status, answer.body]).toEqual([400, { error: 'queue is required' }])
    },
  )

  it.each([
    { mode: 'sideways' },
    { options: [] },
    { options: { leaseTime: '5' } },
    { options: { leaseTime: 1e12 } },
    { options: { retentionEnabled: 1 } },
    { namespace: 5 },
    { queue: 'x'.repeat(256) },
    { queue: 'a\u0000b' },
  ])('answers 400 to %j', async (wrong) => {
    const answer = await broker.call(ROUTE, { json: { queue: 'q', ...wrong } })
    expect(answer.status).toBe(400)
    expect(answer.body).toEqual({ error: expect.any(String) })
  })
})
