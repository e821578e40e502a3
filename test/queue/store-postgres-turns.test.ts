import { beforeEach, describe, expect, it } from 'vitest'
import type { QueueStore, Writes } from '../../src/queue/store.ts'
import { postgresQueueStore } from '../../src/queue/stores/postgres/index.ts'
import { item } from '../support/queue-store.ts'
import { PostgresStores } from '../support/queue-store-postgres.ts'

type Step = Writes['jobStep']['args']

const SECOND_US = 1_000_000
const EVERY_US = 10 * SECOND_US
const START_US = 1_800_000_000 * SECOND_US

const stores = new PostgresStores()
let one: QueueStore
let other: QueueStore

beforeEach(async () => {
  await stores.empty()
  one = postgresQueueStore(await stores.openHost(), { encryptionKey: '' })
  other = postgresQueueStore(await stores.openHost(), { encryptionKey: '' })
})

/** One step; ms after the start. */
async function step(store: QueueStore, atS: number, more: Partial<Step> = {}) {
  const round = { after: null, limit: 10, idleUs: 0, everyUs: EVERY_US }
  const args: Step = { job: 'retention', ...round, nowUs: START_US + atS * SECOND_US, ...more }
  const [outcome] = await store.commit([{ kind: 'jobStep', args }])
  if (outcome?.ok !== true) throw outcome?.error ?? new Error('no outcome')
  return outcome.value as Writes['jobStep']['result']
}

/** A queue from which retention takes a few steps. */
async function fill(): Promise<void> {
  const options = { retentionEnabled: true, retentionSeconds: 1 }
  const labels = { queue: 'q', namespace: null, task: null }
  const items = Array.from({ length: 25 }, (_, at) => item('q', at))
  const nowUs = START_US - 60 * SECOND_US
  const outcomes = await one.commit([
    { kind: 'configure', args: { ...labels, options, mode: 'merge', nowUs } },
    { kind: 'push', args: { items, producerSub: null, nowUs } },
  ])
  expect(outcomes.map(({ ok }) => ok)).toEqual([true, true])
}

describe('rounds of a background job over several processes', () => {
  it('run once per interval, whichever process begins', async () => {
    await fill()
    const both = await Promise.all([step(one, 0), step(other, 0)])
    expect(both.map(({ deleted }) => deleted).toSorted()).toEqual([0, 10])
    const began = both[0].deleted > 0 ? one : other
    const after = both.find(({ deleted }) => deleted > 0)?.next ?? null
    expect(after).not.toBeNull()
    const second = await step(began, 1, { after })
    const last = await step(began, 1, { after: second.next })
    expect(last).toEqual({ deleted: 5, next: null })
    await fill()
    expect(await step(other, 5)).toEqual({ deleted: 0, next: null })
    expect(await step(one, 8)).toEqual({ deleted: 0, next: null })
    expect(await step(other, 9.5)).toMatchObject({ deleted: 10 })
  })

  it('do not begin while another process is at one', async () => {
    await fill()
    const first = await step(one, 0)
    expect(await step(other, 15)).toEqual({ deleted: 0, next: null })
    // A sign of life.
    await step(one, 50, { after: first.next, limit: 1 })
    expect(await step(other, 65)).toEqual({ deleted: 0, next: null })
  })

  it('begin again when the process of the last one has died', async () => {
    await fill()
    await step(one, 0)
    expect(await step(other, 61)).toMatchObject({ deleted: 10 })
  })

  it('begin again when a clock that was far ahead has been set right', async () => {
    await fill()
    await step(one, 3600, { limit: 100 })
    await fill()
    expect(await step(other, 0)).toMatchObject({ deleted: 10 })
  })

  it('of other jobs, and steps without an interval, are free', async () => {
    await fill()
    await step(one, 0)
    expect(await step(other, 0, { job: 'eviction' })).toEqual({ deleted: 0, next: null })
    expect(await step(other, 1, { everyUs: null })).toMatchObject({ deleted: 10 })
  })

  it('have one step at a time', async () => {
    await fill()
    const host = await stores.openHost()
    await host.transaction(async (tx) => {
      await tx.rows('hold', `SELECT pg_advisory_xact_lock(6632006, hashtext('retention'))`)
      expect(await step(one, 0, { everyUs: null })).toEqual({ deleted: 0, next: null })
    })
    expect(await step(one, 0, { everyUs: null })).toMatchObject({ deleted: 10 })
  })
})
