import { expect } from 'vitest'
import type { QueueStore } from '../../../src/queue/store.ts'
import type { Model } from './model.ts'

/** At the end of a run listings and running totals must be those of the model. */
export async function checkRest(
  store: QueueStore,
  model: Model,
  own: (name: string) => string,
): Promise<void> {
  const { nowUs } = model
  for (const queue of model.queues.values()) {
    const name = own(queue.name)
    const detail = await store.read('queueDetail', { queue: name, nowUs })
    const partitions = [...queue.partitions.values()]
    const stored = partitions.reduce((sum, { messages }) => sum + messages.length, 0)
    expect(detail?.queue.partitions).toBe(partitions.length)
    expect(detail?.queue.counts).toMatchObject({ total: stored, deadLetter: queue.dead.length })
    expect(detail?.partitions.map((row) => [row.name, row.counts.total])).toEqual(
      partitions.map((row) => [row.name, row.messages.length]),
    )
    const dlq = await store.read('dlq', {
      queue: name,
      group: null,
      partition: null,
      fromUs: null,
      toUs: null,
      limit: 1000,
      offset: 0,
    })
    const rows = dlq.rows.map((row) => [row.partition, row.group, row.transactionId, row.payload])
    expect(rows.map(String).sort()).toEqual(
      queue.dead.map((row) => String([row.partition, row.group, row.tx, row.payload])).sort(),
    )
    for (const [key, { mode }] of model.groups) {
      const group = key.slice(queue.name.length + 1)
      if (mode !== 'all' || !key.startsWith(`${queue.name} `)) continue
      const depth = await store.read('depth', { queue: name, group, nowUs })
      expect(depth?.pending).toBe(model.lag(queue, group))
    }
  }
}
