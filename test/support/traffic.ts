import type { Caller, TestBroker } from './broker.ts'

/** What a pop took. */
export interface Taken {
  readonly partitionId: string
  readonly leaseId: string
  readonly ids: readonly string[]
}

/** Pushes one message per name, each with its name as transaction id and as payload. */
export async function pushNames(
  call: Caller,
  queue: string,
  names: readonly string[],
  partition = 'Default',
): Promise<void> {
  const items = names.map((name) => ({
    queue,
    partition,
    payload: { name },
    transactionId: name,
  }))
  const { status } = await call('POST /api/v1/push', { json: { items } })
  if (status !== 201) throw new Error(`push answered ${status}`)
}

/** Pops up to `batch` messages of a queue. */
export async function take(
  call: Caller,
  queue: string,
  batch = 10,
  consumerGroup?: string,
): Promise<Taken> {
  const group = consumerGroup === undefined ? '' : `&consumerGroup=${consumerGroup}`
  const { status, body } = await call(`GET /api/v1/pop/queue/${queue}?batch=${batch}${group}`)
  if (status === 204) return { partitionId: '', leaseId: '', ids: [] }
  return {
    partitionId: body.partitionId,
    leaseId: body.leaseId,
    ids: body.messages.map((one: { transactionId: string }) => one.transactionId),
  }
}

/** Acks one message of what was taken. */
export function ackOne(
  call: Caller,
  { partitionId, leaseId }: Taken,
  transactionId: string,
  more: { status?: string; error?: string; consumerGroup?: string } = {},
) {
  return call('POST /api/v1/ack', { json: { transactionId, partitionId, leaseId, ...more } })
}

/** A queue name that no other test of the file uses. */
export function freshQueue(): string {
  queues += 1
  return `space${queues}.task${queues}`
}
let queues = 0

/** Waits until a reading satisfies a condition: for work that goes on behind an answer. */
export async function until<T>(
  read: () => Promise<T>,
  holds: (value: T) => boolean,
  limitMs = 20_000,
): Promise<T> {
  const endMs = performance.now() + limitMs
  for (;;) {
    const value = await read()
    if (holds(value)) return value
    if (performance.now() > endMs) throw new Error(`still ${JSON.stringify(value)}`)
    await new Promise((resolve) => setImmediate(resolve))
  }
}

/** Buffered pushes that still wait. */
export async function buffered({ call }: Pick<TestBroker, 'call'>): Promise<number> {
  return (await call('GET /api/v1/system/maintenance')).body.bufferedMessages
}
