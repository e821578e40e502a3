import type { CompiledMatcher, MatcherType } from '../access/index.ts'
import type { Subscriber } from './delivery/subscriber.ts'
import { HUB_EVENT_TYPE, HUB_PATH } from './reserved.ts'
import type { Update } from './store.ts'

/** Where active subscriptions are listed, and the namespace of the hub's own topics. */
export const SUBSCRIPTIONS_PATH = `${HUB_PATH}/subscriptions`

/** One subscription as others see it; `payload` is left out when there is none. */
export interface SubscriptionDocument {
  readonly id: string
  readonly type: 'subscription'
  readonly subscriber: string
  readonly match: string
  readonly match_type: MatcherType
  readonly active: boolean
  readonly payload?: unknown
}

/** What `encodeURIComponent` leaves alone although RFC 6570 simple expansion encodes it. */
const LEFT_ALONE = /[!'()*]/g

/** Percent-encodes a path variable as a whole: everything but `A-Z a-z 0-9 - . _ ~`. */
export function encodeVariable(text: string): string {
  return encodeURIComponent(text).replace(
    LEFT_ALONE,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  )
}

/** The document of one matcher of one subscriber. */
export function subscriptionDocument(
  subscriber: Subscriber,
  { type, pattern }: CompiledMatcher,
  active: boolean,
): SubscriptionDocument {
  const path = [type, pattern, subscriber.id].map(encodeVariable).join('/')
  const payload = subscriber.identity.grants.payloadFor(pattern)
  return {
    id: `${SUBSCRIPTIONS_PATH}/${path}`,
    type: 'subscription',
    subscriber: subscriber.id,
    match: pattern,
    match_type: type,
    active,
    ...(payload === undefined || payload === null ? {} : { payload }),
  }
}

/** The updates that announce the begin or the end of a connection: one per matcher, private. */
export function subscriptionEvents(
  subscriber: Subscriber,
  active: boolean,
): readonly Omit<Update, 'id'>[] {
  return subscriber.matchers.map((matcher) => {
    const document = subscriptionDocument(subscriber, matcher, active)
    return {
      topics: [document.id],
      data: JSON.stringify(document),
      private: true,
      type: HUB_EVENT_TYPE,
    }
  })
}

/** Which subscriptions are asked for; what is undefined does not narrow. */
export interface SubscriptionFilter {
  readonly type?: MatcherType | undefined
  readonly match?: string | undefined
  readonly subscriber?: string | undefined
}

/** The documents of the open connections that fit a filter. */
export function activeSubscriptions(
  subscribers: Iterable<Subscriber>,
  { type, match, subscriber: id }: SubscriptionFilter,
): readonly SubscriptionDocument[] {
  return [...subscribers]
    .filter((subscriber) => id === undefined || subscriber.id === id)
    .flatMap((subscriber) =>
      subscriber.matchers
        .filter((matcher) => type === undefined || matcher.type === type)
        .filter((matcher) => match === undefined || matcher.pattern === match)
        .map((matcher) => subscriptionDocument(subscriber, matcher, true)),
    )
}
