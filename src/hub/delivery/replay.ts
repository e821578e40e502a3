import type { Walk } from '../../access/index.ts'
import { eventFrame } from '../frame.ts'
import type { HubStore, StoredUpdate } from '../store.ts'
import { mayRead, type Subscriber, selects } from './subscriber.ts'
import type { Turns } from './turns.ts'

/** The position before the oldest update: whoever starts there takes what is left. */
const HISTORY_START = 0

/** What a replay needs of the hub. */
export interface ReplaySource {
  readonly store: HubStore
  /** Position of the newest update that live delivery has seen. */
  headSeq(): number
  readonly turns: Turns
}

/** Lets a subscriber take no live updates yet: all of them will be read from history. */
export function holdBack(subscriber: Subscriber): void {
  subscriber.liveAfter = Number.POSITIVE_INFINITY
  subscriber.held = []
}

/** Whether an update is one that the subscriber asked for and may see. */
function* isFor(subscriber: Subscriber, update: StoredUpdate): Walk<boolean> {
  return (yield* selects(subscriber, update.topics)) && (yield* mayRead(subscriber, update))
}

/** Sends what a page holds for the subscriber; gives the position that it now has reached. */
async function sendPage(
  subscriber: Subscriber,
  updates: readonly StoredUpdate[],
  from: number,
  turns: Turns,
): Promise<number> {
  let position = from
  for (const update of updates) {
    if (update.seq > subscriber.liveAfter) break
    position = update.seq
    if (await turns.finish(isFor(subscriber, update))) subscriber.stream.send(eventFrame(update))
  }
  return position
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
  source: ReplaySource,
): Promise<void> {
  const { stream } = subscriber
  let position = from
  for (let caughtUp = false; !caughtUp; ) {
    const page = await source.store.readAfter(position)
    if (!page.complete && position !== HISTORY_START) stream.end()
    position = await sendPage(subscriber, page.updates, position, source.turns)
    await stream.whenIdle()
    if (stream.closed) return
    if (page.atHead && subscriber.liveAfter === Number.POSITIVE_INFINITY) {
      subscriber.liveAfter = Math.max(position, source.headSeq())
      caughtUp = position === subscriber.liveAfter
    } else caughtUp = page.atHead
  }
  const held = subscriber.held ?? []
  subscriber.held = undefined
  for (const frame of held) stream.send(frame)
}
