import { QUEUE_MODE } from '../../src/queue/model.ts'
import type { PushItem } from '../../src/queue/store.ts'
import type { MessageFilter } from '../../src/queue/store-ops.ts'

/** A pushed item of the queue `q` that says nothing but its payload. */
export function item(partition: string, payload: unknown, more: Partial<PushItem> = {}): PushItem {
  return {
    queue: 'q',
    partition,
    payload: JSON.stringify(payload),
    transactionId: null,
    traceId: null,
    namespace: null,
    task: null,
    ...more,
  }
}

/** A pop of ten messages of the queue `q` in queue mode, from any one partition. */
export const TEN_OF_Q = {
  scope: { queue: 'q', partition: null },
  group: QUEUE_MODE,
  batch: 10,
  partitions: 1,
  leaseSeconds: null,
  autoAck: false,
} as const

/** A listing of messages that leaves nothing out but what is beyond its limit. */
export const ALL_MESSAGES: Omit<MessageFilter, 'nowUs'> = {
  queue: null,
  partition: null,
  namespace: null,
  task: null,
  status: null,
  fromUs: null,
  toUs: null,
  limit: 1000,
  offset: 0,
}
