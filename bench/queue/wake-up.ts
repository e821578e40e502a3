import { quantile } from '../harness/stats.ts'
import { PAYLOAD } from './traffic.ts'

const QUEUE = 'wake-ups'
const PARKED = 100
const SAMPLES = 1000

interface Delivery {
  readonly messages: readonly { readonly transactionId: string; readonly partitionId: string }[]
}

async function postJson(url: string, body: unknown): Promise<void> {
  const reply = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  if (!reply.ok) throw new Error(`${url} answered ${reply.status}`)
  await reply.arrayBuffer()
}

/**
 * Keeps 100 polls parked on one queue of the broker at `url` and pushes one message at a time, to another broker
 * if one is given; the wait of each, in ms.
 */
export async function wakeUpMilliseconds(
  url: string,
  pushUrl = url,
): Promise<{ p50: number; p99: number }> {
  const sent = new Map<string, number>()
  const waits: number[] = []
  let arrived = Promise.withResolvers<void>()
  let open = true
  const poll = async (): Promise<void> => {
    while (open) {
      const reply = await fetch(
        `${url}/api/v1/pop/queue/${QUEUE}?wait=true&timeout=2000&autoAck=true`,
      )
      if (reply.status !== 200) continue
      const { messages } = (await reply.json()) as Delivery
      for (const { transactionId } of messages) {
        waits.push(performance.now() - (sent.get(transactionId) ?? Number.NaN))
      }
      arrived.resolve()
    }
  }
  const pollers = Array.from({ length: PARKED }, poll)
  for (let sample = 0; sample < SAMPLES; sample += 1) {
    const transactionId = `wake-${sample}`
    arrived = Promise.withResolvers<void>()
    sent.set(transactionId, performance.now())
    const item = { queue: QUEUE, partition: `p${sample % PARKED}`, payload: PAYLOAD, transactionId }
    await postJson(`${pushUrl}/api/v1/push`, { items: [item] })
    await arrived.promise
  }
  open = false
  await Promise.all(pollers)
  return { p50: quantile(waits, 0.5), p99: quantile(waits, 0.99) }
}
