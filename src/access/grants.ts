import type { CompiledMatcher } from './matchers.ts'
import { finish, type Walk, walkMatch } from './walk.ts'

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
  /** `allowsEvery` in pieces. */
  walkEvery(action: Action, topics: readonly string[]): Walk<boolean>
  /** `allowsAny` in pieces. */
  walkAny(action: Action, topics: readonly string[]): Walk<boolean>
  /**
   * The payload of the first subscribe detail that matches a subscription's own pattern, taken as a topic.
   * `undefined` when no detail matches or when the first one that does has no payload.
   */
  payloadFor(pattern: string): unknown
  /** The details in token order, for explanations and logs. */
  readonly details: readonly Detail[]
}

/** What grants are made of: the one question that all others come down to, and what they show. */
export interface GrantParts extends Pick<Grants, 'details' | 'payloadFor'> {
  readonly covers: (action: Action, topic: string) => Walk<boolean>
}

/** Grants that answer every question by asking about single topics. */
export function grantsBy({ covers, ...shown }: GrantParts): Grants {
  function* walkEvery(action: Action, topics: readonly string[]): Walk<boolean> {
    for (const topic of topics) if (!(yield* covers(action, topic))) return false
    // Naming nothing is not allowed.
    return topics.length > 0
  }
  function* walkAny(action: Action, topics: readonly string[]): Walk<boolean> {
    for (const topic of topics) if (yield* covers(action, topic)) return true
    return false
  }
  return Object.freeze({
    ...shown,
    allows: (action: Action, topic: string) => finish(covers(action, topic)),
    allowsEvery: (action: Action, topics: readonly string[]) => finish(walkEvery(action, topics)),
    allowsAny: (action: Action, topics: readonly string[]) => finish(walkAny(action, topics)),
    walkEvery,
    walkAny,
  })
}

function* coveredBy(detail: Detail, action: Action, topic: string): Walk<boolean> {
  if (!detail.actions.has(action)) return false
  for (const matcher of detail.topics) if (yield* walkMatch(matcher, topic)) return true
  return false
}

/** The grants of a token's details. Without details every question is answered with no. */
export function grantsOf(details: readonly Detail[]): Grants {
  return grantsBy({
    details,
    *covers(action: Action, topic: string) {
      for (const detail of details) if (yield* coveredBy(detail, action, topic)) return true
      return false
    },
    payloadFor: (pattern: string) =>
      details.find((detail) => finish(coveredBy(detail, 'subscribe', pattern)))?.payload,
  })
}

/** What an anonymous subscriber holds: no grant at all. */
export const NO_GRANTS: Grants = grantsOf([])
