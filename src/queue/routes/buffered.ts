import type { QueueEngine } from '../engine/index.ts'
import type { Reads } from '../store.ts'

/**
 * What was answered `buffered` and is not stored yet: the buffer of push maintenance, and the pushes that wait in
 * this process's files since an outage of the store; those of other processes it cannot see. Queue API 13.1.
 * @throws StoreError when the store does not answer
 */
export async function bufferedOf(engine: QueueEngine): Promise<Reads['buffer']['result']> {
  const { pending, failed, oldestUs } = await engine.read('buffer', null)
  const spilled = engine.spilled() ?? { pending: 0, failed: 0 }
  return { pending: pending + spilled.pending, failed: failed + spilled.failed, oldestUs }
}
