import type { CompiledMatcher } from './matchers.ts'

/** What a token can allow on a topic. */
export type Action = 'publish' | 'subscribe'

/** One valid Mercure detail of a token: actions over topics, and what others may see of the bearer. */
export interface Detail {
  /** The known actions of the detail; unknown ones are dropped, they grant nothing. */
  readonly actions: ReadonlySet<Action>
  readonly topics: readonly CompiledMatcher[]
  /** Any JSON value; `undefined` when the detail has none (absent or null). */
  readonly payload?: unknown
  /** Position in `authorization_details`, foreign entries included; for explanations. */
  readonly index: number
}

/** What one token allows. */
export interface Grants {
  /** Whether some detail lists the action and matches the topic. */
  allows(action: Action, topic: string): boolean
  /** Publishing: every topic of the update has to be covered, alternates too. */
  allowsEvery(action: Action, topics: readonly string[]): boolean
  /** Receiving a private update: one covered topic is enough. */
  allowsAny(action: Action, topics: readonly string[]): boolean
  /**
   * The payload of the first subscribe detail that matches a subscription's own pattern, taken as a topic.
   * `undefined` when no detail matches or when the first one that does has no payload.
   */
  payloadFor(pattern: string): unknown
  /** The details in token order, for explanations and logs. */
  readonly details: readonly Detail[]
}

function covers(detail: Detail, action: Action, topic: string): boolean {
  return detail.actions.has(action) && detail.topics.some((matcher) => matcher.matches(topic))
}

/** The grants of a token's details. Without details every question is answered with no. */
export function grantsOf(details: readonly Detail[]): Grants {
  const allows = (action: Action, topic: string): boolean =>
    details.some((detail) => covers(detail, action, topic))
  return Object.freeze({
    details,
    allows,
    // `every` on no topics would allow what names nothing.
    allowsEvery: (action: Action, topics: readonly string[]) =>
      topics.length > 0 && topics.every((topic) => allows(action, topic)),
    allowsAny: (action: Action, topics: readonly string[]) =>
      topics.some((topic) => allows(action, topic)),
    payloadFor: (pattern: string) =>
      details.find((detail) => covers(detail, 'subscribe', pattern))?.payload,
  })
}

/** What an anonymous subscriber holds: no grant at all. */
export const NO_GRANTS: Grants = grantsOf([])
