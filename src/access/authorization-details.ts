import { type Action, type Detail, type Grants, grantsOf } from './grants.ts'
import { type CompiledMatcher, isMatcherType, MatcherError } from './matchers.ts'
import type { TopicMatchers } from './topic-matchers.ts'

/** The `type` of the details that are ours (RFC 9396), compared byte for byte. */
export const MERCURE_DETAIL_TYPE = 'https://mercure.rocks/authorization-detail'

/** Most Mercure details of one token. */
export const MAX_DETAILS = 100
/** Most topics of one token, summed over its Mercure details. */
export const MAX_GRANTED_TOPICS = 100

/** Why `authorization_details` makes a token invalid; for the operator's log only. */
export type DetailsFault =
  | 'not_an_array'
  | 'entry_not_an_object'
  | 'type_not_a_string'
  | 'too_many_details'
  | 'too_many_topics'
  | 'actions_invalid'
  | 'topics_invalid'
  | 'topic_not_an_object'
  | 'match_invalid'
  | 'match_type_invalid'

/** One invalid Mercure detail makes the whole token invalid: 401 `invalid_token`. */
export class DetailsError extends Error {
  readonly code: DetailsFault
  constructor(code: DetailsFault, options?: ErrorOptions) {
    super(code, options)
    this.name = 'DetailsError'
    this.code = code
  }
}

type JsonObject = Readonly<Record<string, unknown>>

function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Parsed JSON keeps `__proto__` as an own member; anything inherited is not a member. */
function member(object: JsonObject, name: string): unknown {
  return Object.hasOwn(object, name) ? object[name] : undefined
}

/** A Mercure detail with its position, before its own members have been looked at. */
interface RawDetail {
  readonly index: number
  readonly object: JsonObject
  readonly topics: readonly unknown[]
}

/** Picks the Mercure details; entries of another type are skipped whole, whatever they look like. */
function ownDetails(claim: unknown): readonly { index: number; object: JsonObject }[] {
  if (claim === undefined || claim === null) return []
  if (!Array.isArray(claim)) throw new DetailsError('not_an_array')
  return claim.flatMap((object: unknown, index) => {
    if (!isObject(object)) throw new DetailsError('entry_not_an_object')
    const type = member(object, 'type')
    if (typeof type !== 'string') throw new DetailsError('type_not_a_string')
    return type === MERCURE_DETAIL_TYPE ? [{ index, object }] : []
  })
}

/** Counts before anything is compiled, so that an oversized token costs nothing. */
function withinLimits(claim: unknown): readonly RawDetail[] {
  const own = ownDetails(claim)
  if (own.length > MAX_DETAILS) throw new DetailsError('too_many_details')
  let total = 0
  return own.map(({ index, object }) => {
    const topics = member(object, 'topics')
    if (!Array.isArray(topics) || topics.length === 0) throw new DetailsError('topics_invalid')
    total += topics.length
    if (total > MAX_GRANTED_TOPICS) throw new DetailsError('too_many_topics')
    return { index, object, topics }
  })
}

function readActions(value: unknown): ReadonlySet<Action> {
  if (!Array.isArray(value) || value.length === 0) throw new DetailsError('actions_invalid')
  const known = new Set<Action>()
  for (const action of value as readonly unknown[]) {
    if (typeof action !== 'string') throw new DetailsError('actions_invalid')
    // Unknown actions grant nothing and do no harm.
    if (action === 'publish' || action === 'subscribe') known.add(action)
  }
  return known
}

function readTopic(value: unknown, matchers: TopicMatchers): CompiledMatcher {
  if (!isObject(value)) throw new DetailsError('topic_not_an_object')
  const pattern = member(value, 'match')
  if (typeof pattern !== 'string' || pattern === '') throw new DetailsError('match_invalid')
  const type = Object.hasOwn(value, 'match_type') ? value['match_type'] : 'exact'
  if (!isMatcherType(type)) throw new DetailsError('match_type_invalid')
  try {
    return matchers.compile({ type, pattern })
  } catch (cause) {
    if (cause instanceof MatcherError) throw new DetailsError('match_invalid', { cause })
    throw cause
  }
}

function readDetail({ index, object, topics }: RawDetail, matchers: TopicMatchers): Detail {
  const actions = readActions(member(object, 'actions'))
  const payload = member(object, 'payload')
  return Object.freeze({
    index,
    actions,
    topics: Object.freeze(topics.map((topic) => readTopic(topic, matchers))),
    // null means no payload, so that false, 0, '' and [] are payloads.
    ...(payload === undefined || payload === null ? {} : { payload }),
  })
}

/**
 * Reads the `authorization_details` claim (RFC 9396) of a verified token. Absent, null or empty grants
 * nothing. Every Mercure detail is checked, whatever the role of the request.
 * @throws DetailsError for the first defect; the token is then invalid as a whole
 */
export function readAuthorizationDetails(claim: unknown, matchers: TopicMatchers): Grants {
  return grantsOf(withinLimits(claim).map((detail) => readDetail(detail, matchers)))
}
