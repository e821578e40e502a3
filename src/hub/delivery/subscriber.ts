import type { CompiledMatcher } from '../../access/index.ts'
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
export function selects(subscriber: Subscriber, topics: readonly string[]): boolean {
  return subscriber.matchers.some((matcher) => topics.some((topic) => matcher.matches(topic)))
}

/**
 * Whether a subscriber may see an update (protocol, "private updates and their audience"): a public one
 * always, a private one if its token covers any of the topics, which need not be the one it selected.
 */
export function mayRead({ identity }: Subscriber, update: Update): boolean {
  return !update.private || identity.grants.allowsAny('subscribe', update.topics)
}
