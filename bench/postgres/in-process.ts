import { createQueueEngine, type QueueEngine } from '../../src/queue/engine/index.ts'
import { QUEUE_MODE } from '../../src/queue/model.ts'
import { postgresQueueModule, postgresQueueStore } from '../../src/queue/stores/postgres/index.ts'
import { openPostgresHost } from '../../src/storage/index.ts'
import { PAYLOAD } from '../queue/traffic.ts'
import { type Contender, inThousands, pump, rateOf } from './contender.ts'
import type { BenchDatabase } from './server.ts'
import { CALLERS, PARTITIONS } from './setting.ts'

const PAYLOAD_TEXT = JSON.stringify(PAYLOAD)

function itemOf(queue: string, partition: number) {
  return {
    queue,
    partition: `p${partition % PARTITIONS}`,
    payload: PAYLOAD_TEXT,
    transactionId: null,
    traceId: null,
    namespace: null,
    task: null,
  }
}

function popOf(batch: number) {
  return {
    scope: { queue: 'work', partition: null },
    group: QUEUE_MODE,
    batch,
    partitions: 1,
    leaseSeconds: null,
    autoAck: false,
    subscriptionMode: null,
    subscriptionFrom: null,
    waitMs: 0,
  }
}

async function fetchAndComplete(engine: QueueEngine, batch: number): Promise<number> {
  const reply = await engine.pop(popOf(batch))
  if (reply === null) return 0
  const { leaseId, claims } = reply
  const items = claims.flatMap(({ partitionId, messages }) =>
    messages.map(({ transactionId }) => {
      return { transactionId, partitionId, leaseId, status: 'completed' as const, error: null }
    }),
  )
  const results = await engine.ack(QUEUE_MODE, items)
  if (results.some(({ success }) => !success)) throw new Error('an ack was refused')
  return items.length
}

/** hivegate's engine and PostgreSQL store in this process, without HTTP: what the libraries beside it are. */
export async function hivegateInProcess(database: BenchDatabase): Promise<Contender> {
  const host = await openPostgresHost({ target: database.target, modules: [postgresQueueModule] })
  const engine = await createQueueEngine({
    store: postgresQueueStore(host, { encryptionKey: '' }),
    config: { defaultSubscriptionMode: '', retentionBatchSize: 1000, partitionCleanupDays: 7 },
  })
  let turn = 0
  return {
    name: 'hivegate in process',
    async send(batch, seconds) {
      return rateOf(
        await pump(seconds, async (caller) => {
          turn += 1
          const partition = caller + CALLERS * turn
          await engine.push(
            Array.from({ length: batch }, () => itemOf('sends', partition)),
            null,
          )
          return batch
        }),
      )
    },
    consume: async (batch, seconds) =>
      rateOf(await pump(seconds, () => fetchAndComplete(engine, batch))),
    async fill(count) {
      await inThousands(count, (size, from) =>
        engine.push(
          Array.from({ length: size }, (_, i) => itemOf('work', from + i)),
          null,
        ),
      )
      await database.analyze()
    },
    async close() {
      await engine.close()
      await host.close()
    },
  }
}
