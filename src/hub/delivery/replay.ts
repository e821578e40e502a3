import { eventFrame } from '../frame.ts'
import type { HubStore } from '../store.ts'
import { type Holding, mayRead, type Subscriber, selects } from './subscriber.ts'

/** The position before the oldest update: whoever starts there takes what is left. */
const HISTORY_START = 0

/** What a replay needs of the hub. */
export interface ReplaySource {
  readonly store: HubStore
  /** Position of the newest update that live delivery has seen. */
  headSeq(): number
}

/** A subscriber that takes no live updates yet: all of them will be read from history. */
export function startHolding(): Holding {
  return { after: Number.POSITIVE_INFINITY, frames: [] }
}

/**
 * Replays history after a position, then lets the subscriber go on live: no gap, no repeat, in order.
 * While pages are read, live updates are ignored, for history has them. Only when the newest page has
 * come does the subscriber keep what arrives from that moment; the few before it are read once more.
 * If the history lost updates in between (trimming overtook a slow reader), the stream ends and the
 * client learns of the loss from its next request.
 * @throws what the store throws
 */
export async function replay(
  subscriber: Subscriber,
  from: number,
  holding: Holding,
  source: ReplaySource,
): Promise<void> {
  const { stream } = subscriber
  let position = from
  for (let caughtUp = false; !caughtUp; ) {
    const page = await source.store.readAfter(position)
    if (!page.complete && position !== HISTORY_START) stream.end()
    for (const update of page.updates) {
      if (update.seq > holding.after) break
      position = update.seq
      if (selects(subscriber, update.topics) && mayRead(subscriber, update)) {
        stream.send(eventFrame(update))
      }
    }
    await stream.whenIdle()
    if (stream.closed) return
    caughtUp = page.atHead && holding.after !== Number.POSITIVE_INFINITY
    if (page.atHead && !caughtUp) {
      holding.after = source.headSeq()
      caughtUp = position >= holding.after
    }
  }
  subscriber.holding = undefined
  for (const frame of holding.frames) stream.send(frame)
}
