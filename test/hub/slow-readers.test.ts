import { describe, expect, it, vi } from 'vitest'
import { publish, type RunningHub, startHub } from '../support/hub/hub.ts'
import { openRaw } from '../support/hub/raw-stream.ts'
import { subscribe } from '../support/hub/stream.ts'

/** A subscriber that opens a stream and then reads nothing more. */
async function sleeper(hub: RunningHub) {
  const stream = openRaw(hub.port, ['GET /.well-known/mercure?match=a HTTP/1.1', 'Host: x'])
  await stream.until(':\n\r\n')
  stream.socket.pause()
  return stream
}

async function flood(hub: RunningHub, count: number, bytes: number): Promise<void> {
  const data = 'x'.repeat(bytes)
  for (let at = 0; at < count; at += 1) {
    expect((await publish(hub, { topic: 'a', id: `${at}`, data })).status).toBe(200)
  }
}

describe('row 37: a subscriber that does not read', () => {
  it('H26: holds up neither the publisher nor the others, and is dropped after the dispatch timeout', async () => {
    const hub = await startHub({ settings: { anonymous: true, dispatchTimeoutMs: 300 } })
    const asleep = await sleeper(hub)
    const awake = await subscribe(hub, 'match=a')
    await flood(hub, 20, 1_000_000)
    const ids = (await awake.take(20)).map(({ id }) => id)
    expect(ids).toEqual(Array.from({ length: 20 }, (_, at) => `${at}`))
    await vi.waitFor(() => expect(hub.hub.health().subscribers).toBe(1), { timeout: 20_000 })
    asleep.socket.resume()
    await asleep.closed
    await publish(hub, { topic: 'a', id: 'after' })
    expect((await awake.next()).id).toBe('after')
  })

  it('H26: is dropped when more than a thousand updates wait, with the dispatch timeout off', async () => {
    const hub = await startHub({ settings: { anonymous: true } })
    const asleep = await sleeper(hub)
    // Fill what the operating system buffers, so that updates begin to wait.
    await flood(hub, 12, 1_000_000)
    await flood(hub, 1001, 10)
    await vi.waitFor(() => expect(hub.hub.health().subscribers).toBe(0), { timeout: 20_000 })
    asleep.socket.resume()
    await asleep.closed
  })

  it('A14: is dropped when too many bytes wait', async () => {
    const hub = await startHub({ settings: { anonymous: true } })
    const asleep = await sleeper(hub)
    await flood(hub, 60, 1_000_000)
    await vi.waitFor(() => expect(hub.hub.health().subscribers).toBe(0), { timeout: 20_000 })
    asleep.socket.resume()
    await asleep.closed
  })

  it('and reads again in time gets everything, in order', async () => {
    const hub = await startHub({ settings: { anonymous: true, dispatchTimeoutMs: 60_000 } })
    const asleep = await sleeper(hub)
    await flood(hub, 15, 1_000_000)
    asleep.socket.resume()
    await publish(hub, { topic: 'a', id: 'last' })
    const text = await asleep.until('id: last\n')
    const ids = [...text.matchAll(/id: ([a-z0-9]+)\n/g)].map(([, id]) => id)
    expect(ids).toEqual([...Array.from({ length: 15 }, (_, at) => `${at}`), 'last'])
  })

  it('is cut off at its end instead of keeping the hub waiting', async () => {
    const hub = await startHub({ settings: { anonymous: true } })
    const asleep = await sleeper(hub)
    await flood(hub, 12, 1_000_000)
    await hub.hub.close()
    asleep.socket.resume()
    await asleep.closed
    expect(hub.hub.health()).toMatchObject({ status: 'closed', subscribers: 0 })
  })
})
