import fc from 'fast-check'
import { sqliteModules } from '../../src/assembly/embedded.ts'
import { parsePrivateJwk } from '../../src/config/index.ts'
import { sqliteHubStore } from '../../src/hub/index.ts'
import { sqliteIssuerStore } from '../../src/issuer/index.ts'
import { generateSigningJwk, publicHalf } from '../../src/keys/index.ts'
import { type QueueStore, sqliteQueueStore } from '../../src/queue/index.ts'
import { noFigures } from '../../src/queue/metrics/tally.ts'
import type { WriteOp } from '../../src/queue/store.ts'
import { openSqliteHost, type SqliteHost } from '../../src/storage/index.ts'
import { Driver } from '../queue/store-model/driver.ts'
import { anyStep } from '../queue/store-model/steps.ts'
import { item } from '../support/queue-store.ts'

export const ENCRYPTION_KEY = '5a'.repeat(32)
const STEPS = 250
const MESSAGES = 6000
const PER_PUSH = 500

async function write(store: QueueStore, ...ops: readonly WriteOp[]): Promise<void> {
  for (const op of ops) {
    const [outcome] = await store.commit([op])
    if (outcome?.ok !== true) throw outcome?.error ?? new Error('no outcome')
  }
}

/** Messages enough for several steps of a move. */
function bulk(nowUs: number): readonly WriteOp[] {
  return Array.from({ length: MESSAGES / PER_PUSH }, (_, push): WriteOp => {
    const items = Array.from({ length: PER_PUSH }, (_, at) =>
      item('bulk', { text: `ünï "${at}"\n`, push }, { partition: `p${at % 50}` }),
    )
    return { kind: 'push', args: { items, producerSub: 'svc', nowUs: nowUs + push } }
  })
}

/** What stands beside the queue: switches, the buffer, streams, traces and the history of metrics. */
async function fillSide(store: QueueStore, nowUs: number): Promise<void> {
  const query = { name: 's', sourceQueue: 'bulk', sinkQueue: null, configHash: 'h', reset: false }
  const [registered] = await store.commit([{ kind: 'registerQuery', args: { ...query, nowUs } }])
  const queryId = registered?.ok === true ? Object(registered.value).queryId : ''
  const filter = { queue: 'bulk', partition: 'p1', namespace: null, task: null, status: null }
  const page = { fromUs: null, toUs: null, limit: 3, offset: 0, nowUs }
  const { rows } = await store.read('messages', { ...filter, ...page })
  const { partitionId = '', transactionId = '' } = rows[0] ?? {}
  const cycle = { queryId, partitionId, group: 'g', pushItems: [], ack: null, releaseLease: true }
  const stateOps = [1.5, 2 ** 40].map((windowEnd) => ({
    ...{ type: 'upsert' as const, key: `k\u001f${windowEnd}` },
    value: JSON.stringify({ windowEnd }),
  }))
  const event = {
    group: 'g',
    names: ['n', 'm'],
    eventType: 'info',
    workerId: null,
    data: '{"a":1}',
  }
  await write(
    store,
    { kind: 'cycle', args: { ...cycle, stateOps, producerSub: null, nowUs } },
    { kind: 'addTrace', args: { partitionId, transactionId, ...event, nowUs } },
    {
      kind: 'recordMetrics',
      args: {
        process: { hostname: 'h', workerId: 'w', port: 1 },
        atMs: Math.floor(nowUs / 1000),
        queues: [['bulk', { ...noFigures(), pushMessages: 7, lagSumMs: 0.125 }]],
        sampled: null,
      },
    },
    { kind: 'setFlag', args: { name: 'pushMaintenance', value: true, nowUs } },
    { kind: 'push', args: { items: [item('bulk', 'buffered')], producerSub: null, nowUs } },
  )
}

async function fillWings(host: SqliteHost): Promise<void> {
  const hub = sqliteHubStore(host, { historySize: 10 })
  await hub.open(() => undefined)
  for (const id of ['u1', 'u2', 'u3']) {
    await hub.append({ id, topics: ['/t', '/ü'], data: `a\0b ${id}`, private: id === 'u2' }, false)
  }
  await hub.close()
  const issuer = sqliteIssuerStore(host)
  const jwk = parsePrivateJwk(JSON.stringify(generateSigningJwk('ES256', 'k1')))
  if (jwk === undefined || jwk === null) throw new Error('no key')
  await issuer.upsertKey(publicHalf(jwk), 1000)
  await issuer.createHerd({ id: 'herd', createdAtMs: 1 })
  await issuer.createDevice({ id: 'd', herdId: 'herd', name: 'n', createdAtMs: 2 }, 'hash')
  await issuer.setSuperadmin('root', true)
}

/** Fills an embedded store with something in every table; answers a moment after all of it, in µs. */
export async function fillStore(dataDir: string): Promise<number> {
  const host = await openSqliteHost({ dataDir, modules: sqliteModules(ENCRYPTION_KEY) })
  try {
    const store = sqliteQueueStore(host)
    const driver = new Driver(store)
    await driver.play(fc.sample(anyStep, { seed: 4, numRuns: STEPS }))
    const nowUs = driver.nowUs + 1_000_000
    await write(store, ...bulk(nowUs))
    await fillSide(store, nowUs + 1_000_000)
    await fillWings(host)
    return nowUs + 2_000_000
  } finally {
    await host.close()
  }
}
