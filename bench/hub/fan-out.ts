import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

const AUDIENCE = fileURLToPath(new URL('./audience.ts', import.meta.url))
/** Publish requests under way at once: enough to keep the hub busy, few enough to leave it room to deliver. */
const PUBLISHERS = 4

/** A hub under test, or the bare server in its place. */
export interface Target {
  readonly url: string
  readonly token?: string
}

/** What one fan-out gave. Latency from the start of the publish request to the reader, in ms. */
export interface FanOut {
  readonly updatesPerSecond: number
  readonly deliveriesPerSecond: number
  readonly p50: number
  readonly p99: number
  /** Growth of the hub's resident memory by subscriber, in KiB; NaN for the bare server. */
  readonly kibPerSubscriber: number
}

/** Opens an audience in a process of its own; it is ready when this resolves. */
export async function openAudience(
  { url }: Target,
  { count, updates, query }: { count: number; updates: number; query: string },
): Promise<ChildProcess> {
  const args = [new URL(url).port, String(count), String(updates), query]
  const child = fork(AUDIENCE, args, { execArgv: ['--disable-warning=ExperimentalWarning'] })
  await once(child, 'message')
  return child
}

/** Publishes one public update; its data is the time of sending. */
export async function publish({ url, token }: Target, topic: string): Promise<void> {
  const sent = performance.timeOrigin + performance.now()
  const reply = await fetch(`${url}/.well-known/mercure`, {
    method: 'POST',
    headers: {
      'content-type': 'application/x-www-form-urlencoded',
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
    },
    body: new URLSearchParams({ topic, data: `${sent} ${'x'.repeat(200)}` }),
  })
  if (reply.status !== 200) throw new Error(`publish answered ${reply.status}`)
  await reply.arrayBuffer()
}

async function residentKib({ url }: Target): Promise<number> {
  const reply = await fetch(`${url}/metrics`)
  if (!reply.headers.get('content-type')?.startsWith('application/json')) return Number.NaN
  const { memory } = (await reply.json()) as { memory: { rss: number } }
  return memory.rss / 1024
}

/** Sends `updates` updates to `count` subscribers and waits until all have arrived. */
export async function fanOut(target: Target, count: number, updates: number): Promise<FanOut> {
  const isHub = target.token !== undefined
  const before = isHub ? await residentKib(target) : Number.NaN
  const audience = await openAudience(target, { count, updates, query: 'match=fan-out' })
  try {
    const kibPerSubscriber = isHub ? ((await residentKib(target)) - before) / count : Number.NaN
    const begin = performance.now()
    const finished = once(audience, 'message') as Promise<[{ p50: number; p99: number }]>
    let left = updates
    const publisher = async () => {
      while (left > 0) {
        left -= 1
        await publish(target, 'fan-out')
      }
    }
    await Promise.all(Array.from({ length: PUBLISHERS }, publisher))
    const [{ p50, p99 }] = await finished
    const updatesPerSecond = updates / ((performance.now() - begin) / 1000)
    return {
      updatesPerSecond,
      deliveriesPerSecond: updatesPerSecond * count,
      p50,
      p99,
      kibPerSubscriber,
    }
  } finally {
    audience.kill()
  }
}
