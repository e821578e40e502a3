import fc from 'fast-check'
import type { AckStatus, Subscription } from '../../../src/queue/model.ts'
import { QUEUE_MODE } from '../../../src/queue/model.ts'

/** One message that was delivered, to be acked later. `pick` chooses among the deliveries so far. */
export interface AckPick {
  readonly pick: number
  readonly status: AckStatus
  readonly error: string | null
}

export type LeaseChoice = 'own' | 'none' | 'wrong'

/** A random operation; numbers named `pick` are taken modulo what there is. */
export type Step =
  | { do: 'push'; items: readonly { queue: string; partition: string; tx: string | null }[] }
  | {
      do: 'pop'
      scope: { queue: string; partition: string | null } | { namespace: string }
      group: string
      batch: number
      partitions: number
      leaseSeconds: number | null
      autoAck: boolean
      subscription: Subscription | { mode: 'timestamp'; pick: number }
    }
  | { do: 'ack'; picks: readonly AckPick[]; lease: LeaseChoice; group: string | null }
  | { do: 'extend'; pick: number; seconds: number }
  | { do: 'release'; pick: number }
  | { do: 'wait'; seconds: number }
  | {
      do: 'configure'
      queue: string
      options: Readonly<Record<string, number | boolean>>
    }
  | { do: 'seek'; queue: string; partition: string | null; group: string; pick: number | null }
  | { do: 'deleteQueue'; queue: string }
  | { do: 'clear'; queue: string; partition: string | null }
  | { do: 'deleteGroup'; group: string; queue: string | null; metadata: boolean }
  | { do: 'restart'; group: string; pick: number }
  | {
      do: 'transaction'
      items: readonly { queue: string; partition: string; tx: string | null }[]
      acks: readonly AckPick[]
      lease: LeaseChoice
      required: readonly number[]
    }
  | { do: 'moveToDlq'; pick: number; group: string }
  | { do: 'replay'; pick: number }
  | { do: 'retryMessage'; pick: number }
  | { do: 'job'; job: 'retention' | 'completedRetention' | 'eviction' | 'purge' }

const queue = fc.constantFrom('a.x', 'a.y', 'b')
const partition = fc.constantFrom('p1', 'p2', 'p3')
const group = fc.constantFrom(QUEUE_MODE, 'g1', 'g2')
const named = fc.constantFrom('g1', 'g2')
const pick = fc.nat({ max: 999 })
const tx = fc.option(fc.constantFrom('t1', 't2', 't3', 't4', 't5'), { freq: 2 })
const status = fc.oneof(
  { weight: 5, arbitrary: fc.constant<AckStatus>('completed') },
  { weight: 3, arbitrary: fc.constant<AckStatus>('failed') },
  { weight: 1, arbitrary: fc.constant<AckStatus>('retry') },
  { weight: 1, arbitrary: fc.constant<AckStatus>('dlq') },
)
const items = fc.array(fc.record({ queue, partition, tx }), { minLength: 1, maxLength: 4 })
const acks = fc.array(fc.record({ pick, status, error: fc.constantFrom(null, 'boom', 'bang') }), {
  minLength: 1,
  maxLength: 4,
})
const lease = fc.oneof(
  { weight: 6, arbitrary: fc.constant<LeaseChoice>('own') },
  { weight: 2, arbitrary: fc.constant<LeaseChoice>('none') },
  { weight: 1, arbitrary: fc.constant<LeaseChoice>('wrong') },
)
const scope = fc.oneof(
  { weight: 4, arbitrary: fc.record({ queue, partition: fc.constant(null) }) },
  { weight: 2, arbitrary: fc.record({ queue, partition }) },
  { weight: 1, arbitrary: fc.record({ namespace: fc.constantFrom('a', 'b') }) },
)
const subscription = fc.oneof(
  { weight: 4, arbitrary: fc.constant({ mode: 'all' as const }) },
  { weight: 1, arbitrary: fc.constant({ mode: 'new' as const }) },
  { weight: 1, arbitrary: fc.record({ mode: fc.constant('timestamp' as const), pick }) },
)
const options = fc.record(
  {
    leaseTime: fc.constantFrom(1, 10, 300),
    retryLimit: fc.constantFrom(0, 1, 3),
    deadLetterQueue: fc.boolean(),
    dlqAfterMaxRetries: fc.boolean(),
    delayedProcessing: fc.constantFrom(0, 2),
    windowBuffer: fc.constantFrom(0, 0, 2),
    dedupWindowSeconds: fc.constantFrom(0, 5, 3600),
    encryptionEnabled: fc.boolean(),
    priority: fc.constantFrom(0, 5),
    retentionEnabled: fc.boolean(),
    retentionSeconds: fc.constantFrom(0, 5),
    completedRetentionSeconds: fc.constantFrom(0, 2),
    maxWaitTimeSeconds: fc.constantFrom(0, 4),
  },
  { requiredKeys: [] },
)

/** Any operation, the everyday ones more often. */
export const anyStep: fc.Arbitrary<Step> = fc.oneof(
  { weight: 12, arbitrary: fc.record({ do: fc.constant('push' as const), items }) },
  {
    weight: 12,
    arbitrary: fc.record({
      do: fc.constant('pop' as const),
      scope,
      group,
      batch: fc.integer({ min: 1, max: 5 }),
      partitions: fc.constantFrom(1, 1, 2, 0),
      leaseSeconds: fc.constantFrom(null, null, 1, 20),
      autoAck: fc.constantFrom(false, false, false, true),
      subscription,
    }),
  },
  {
    weight: 12,
    arbitrary: fc.record({
      do: fc.constant('ack' as const),
      picks: acks,
      lease,
      group: fc.option(group, { freq: 1 }).map((other) => (other === QUEUE_MODE ? null : other)),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({ do: fc.constant('wait' as const), seconds: fc.constantFrom(1, 3, 12) }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('extend' as const),
      pick,
      seconds: fc.constantFrom(1, 30),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('release' as const), pick }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('configure' as const), queue, options }) },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('seek' as const),
      queue,
      partition: fc.option(partition),
      group,
      pick: fc.option(pick),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('deleteQueue' as const), queue }) },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant('clear' as const),
      queue,
      partition: fc.option(partition),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant('deleteGroup' as const),
      group: named,
      queue: fc.option(queue),
      metadata: fc.boolean(),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('restart' as const), group: named, pick }) },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('transaction' as const),
      items: fc.oneof(items, fc.constant([])),
      acks: fc.oneof(acks, fc.constant([])),
      lease,
      required: fc.array(pick, { maxLength: 2 }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('moveToDlq' as const), pick, group }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('replay' as const), pick }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('retryMessage' as const), pick }) },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('job' as const),
      job: fc.constantFrom('retention', 'completedRetention', 'eviction', 'purge'),
    }),
  },
)
