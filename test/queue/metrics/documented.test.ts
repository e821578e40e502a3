import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { FAMILIES } from '../../../src/queue/metrics/prometheus.ts'
import { startTestBroker, type TestBroker } from '../../support/broker.ts'

const PAGE = readFileSync(new URL('../../../docs/metrics.md', import.meta.url), 'utf8')

let broker: TestBroker
beforeAll(async () => {
  broker = await startTestBroker({ MERCURE_DEV: 'true' })
})
afterAll(() => broker.stop())

describe('docs/metrics.md', () => {
  it('names every family of the queue with its type and its labels', () => {
    const missing = FAMILIES.filter(({ name, type, labels }) => {
      const row = PAGE.split('\n').find((line) => line.includes(`| \`${name}\``)) ?? ''
      return !row.includes(` ${type} `) || !labels.every((label) => row.includes(`\`${label}\``))
    })
    expect(missing.map(({ name }) => name)).toEqual([])
  })

  it('names every family that a live broker shows', async () => {
    const { body } = await broker.call('GET /metrics/prometheus')
    const names = [...String(body).matchAll(/^# TYPE (\w+)/gm)].map(([, name]) => name)
    expect(names.length).toBeGreaterThan(40)
    expect(names.filter((name) => !PAGE.includes(`\`${name}\``))).toEqual([])
  })

  it('and the label queue has no more values than QUEEN_METRICS_MAX_QUEUES, one more for the rest', async () => {
    const small = await startTestBroker({ QUEEN_METRICS_MAX_QUEUES: '2' })
    for (const queue of ['a', 'b', 'c', 'd']) {
      const json = { items: [{ queue, payload: 1 }] }
      expect((await small.call('POST /api/v1/push', { json })).status).toBe(201)
    }
    const { body } = await small.call('GET /metrics/prometheus')
    const stored = String(body).match(/^hivegate_queue_messages\{.*$/gm) ?? []
    expect(stored).toHaveLength(3)
    expect(stored.join()).toContain('queue="__other__"} 2')
    await small.stop()
  })
})
