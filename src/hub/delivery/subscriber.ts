import { type CompiledMatcher, type Walk, walkMatch } from '../../access/index.ts'
import type { HubIdentity } from '../identity.ts'
import type { Update } from '../store.ts'
import type { EventStream } from './event-stream.ts'

/** One open connection with everything it asked for and may see. */
export interface Subscriber {
  /** `urn:uuid:…`, unique to the connection. */
  readonly id: string
  readonly matchers: readonly CompiledMatcher[]
  readonly identity: HubIdentity
  readonly stream: EventStream
  /**
   * Live updates up to this position are not sent: history has given them to the subscriber, or will. A
   * read of history may be ahead of what live delivery has heard, so this outlives the replay.
   */
  liveAfter: number
  /** Live updates that wait until the replay is done; undefined when there is nothing to wait for. */
  held: Buffer[] | undefined
}

/** Whether one of a subscriber's matchers selects the update: any of its topics will do. */
export function* selects(subscriber: Subscriber, topics: readonly string[]): Walk<boolean> {
  for (const topic of topics) {
    for (const matcher of subscriber.matchers) if (yield* walkMatch(matcher, topic)) return true
  }
  return false
}

/**
 * Whether a subscriber may see an update (protocol, "private updates and their audience"): a public one
 * always, a private one if its token covers any of the topics, which need not be the one it selected.
 */
export function* mayRead({ identity }: Subscriber, update: Update): Walk<boolean> {
  return !update.private || (yield* identity.grants.walkAny('subscribe', update.topics))
}
