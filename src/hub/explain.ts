import {
  type Action,
  type CompiledMatcher,
  createTopicMatchers,
  type Grants,
  MatchCache,
} from '../access/index.ts'
import type { HubConfig, HubRole } from '../config/index.ts'
import type { Trace } from '../http/index.ts'
import type { Log } from '../keys/index.ts'
import { createHubAuthenticator, type TokenDialect } from './authenticator.ts'
import { HubAuthError, HubRequestError } from './errors.ts'
import { formFields } from './form.ts'
import type { HubIdentity } from './identity.ts'
import { assertPublishableTopic, HUB_PATH } from './reserved.ts'
import { readMatchers } from './selection.ts'

/** A request to the hub that is asked about, without its body. */
export interface HubQuestion {
  readonly method: string
  /** Path and query, as sent. */
  readonly target: string
  /** The token, without the scheme in front. */
  readonly token?: string
  /** The topics of an update: those that are published, or those of a private update that should arrive. */
  readonly topics: readonly string[]
  /** Under which origin the hub is reached, such as `https://hub.example`; decides `aud` when none is pinned. */
  readonly origin: string
}

/** What the hub is asked under. */
export interface ExplainParts {
  readonly config: HubConfig
  readonly log: Log
  /** Verifies tokens that are no access tokens, as on the hub (`PUBSUB_HUB`). */
  readonly otherDialect?: TokenDialect
}

/** What the hub would answer, as far as token and grants decide it. */
export interface HubVerdict {
  readonly status: number
  /** One line, such as `refused: 401 invalid_token`. */
  readonly text: string
}

/** Names each entry of the token that grants an action on a topic. */
function grantedBy({ details }: Grants, action: Action, topic: string): readonly string[] {
  return details
    .filter(({ actions }) => actions.has(action))
    .flatMap(({ index, topics }) =>
      topics
        .filter((matcher) => matcher.matches(topic))
        .map(({ type, pattern }) => `authorization_details[${index}] ${type} ${pattern}`),
    )
}

function explainTopic(grants: Grants, action: Action, topic: string, trace: Trace): boolean {
  const allowed = grants.allows(action, topic)
  // A path-prefix token grants without details.
  const [first = 'a path prefix', ...others] = grantedBy(grants, action, topic)
  const more = others.length === 0 ? '' : ` and ${others.length} more`
  trace({
    name: 'topic',
    verdict: allowed ? 'pass' : 'fail',
    detail: allowed
      ? `${topic}: ${action} by ${first}${more}`
      : `${topic}: nothing in the token grants ${action}`,
  })
  return allowed
}

function explainDetails({ details }: Grants, trace: Trace): void {
  for (const { index, actions, topics, payload } of details) {
    const patterns = topics.map(({ type, pattern }) => `${type} ${pattern}`).join(', ')
    const what = [...actions].join('+') || 'nothing'
    const shown = payload === undefined ? '' : ', with a payload'
    trace({ name: `detail ${index}`, verdict: 'note', detail: `${what} on ${patterns}${shown}` })
  }
}

function explainPublish(grants: Grants, topics: readonly string[], trace: Trace): boolean {
  if (topics.length === 0) {
    trace({
      name: 'topic',
      verdict: 'note',
      detail: 'no topic was named; publishing needs all granted',
    })
  }
  for (const topic of topics) assertPublishableTopic(topic)
  return topics.map((topic) => explainTopic(grants, 'publish', topic, trace)).every(Boolean)
}

/** A stream is never refused for its grants; they decide which private updates arrive. */
function explainStream(
  grants: Grants,
  matchers: readonly CompiledMatcher[],
  topics: readonly string[],
  trace: Trace,
): void {
  const selected = topics.filter((topic) => matchers.some((matcher) => matcher.matches(topic)))
  for (const topic of topics) {
    const asked = selected.includes(topic)
    trace({
      name: 'match',
      verdict: asked ? 'pass' : 'note',
      detail: `${topic}: ${asked ? 'selected' : 'not selected'} by the request`,
    })
  }
  const granted = topics
    .map((topic) => explainTopic(grants, 'subscribe', topic, trace))
    .some(Boolean)
  if (topics.length === 0) return
  const arrives = selected.length > 0 && granted
  const detail = `a private update with these topics ${arrives ? 'arrives' : 'does not arrive'}`
  trace({ name: 'private', verdict: arrives ? 'pass' : 'fail', detail })
}

/** The status of a request whose route does not exist under this configuration, or undefined (protocol, section 1). */
function missingRoute(
  { config, otherDialect }: ExplainParts,
  { method, target }: HubQuestion,
): HubVerdict | undefined {
  const isHubUrl = target.split('?', 1)[0] === HUB_PATH
  if (!config.enabled) return { status: 404, text: 'refused: 404 (the hub is off)' }
  if (!isHubUrl) {
    if (config.subscriptions) return undefined
    return { status: 404, text: 'refused: 404 (subscriptions are off)' }
  }
  const role: HubRole = method === 'POST' ? 'publisher' : 'subscriber'
  const verified = otherDialect ?? config.issuers.find((issuer) => issuer[role] !== undefined)
  if (verified !== undefined || (role === 'subscriber' && config.anonymous)) return undefined
  return { status: 405, text: `refused: 405 (no issuer verifies ${role} tokens)` }
}

/** Anonymous mode opens the stream, not the list of who is there, unless there is nothing to verify with. */
function needsToken(
  { config, otherDialect }: ExplainParts,
  { target }: HubQuestion,
  bearer: HubIdentity,
): boolean {
  const isHubUrl = target.split('?', 1)[0] === HUB_PATH
  const verified = otherDialect ?? config.issuers.find(({ subscriber }) => subscriber !== undefined)
  return !isHubUrl && bearer.anonymous && verified !== undefined
}

/** What the grants of a bearer decide about the request. */
function explainGrants(
  question: HubQuestion,
  bearer: HubIdentity,
  compile: Parameters<typeof readMatchers>[1],
  trace: Trace,
): boolean {
  const { method, target, topics } = question
  const { grants } = bearer
  const [path = '', query = ''] = target.split(/\?(.*)/s)
  if (method === 'POST') return explainPublish(grants, topics, trace)
  // The encoded path itself is the topic (protocol, "the web API").
  if (path !== HUB_PATH) {
    return bearer.anonymous || explainTopic(grants, 'subscribe', path, trace)
  }
  const matchers = readMatchers([...formFields(Buffer.from(query))], compile)
  explainStream(grants, matchers, topics, trace)
  return true
}

function refusalOf(error: unknown, trace: Trace): HubVerdict {
  if (error instanceof HubAuthError) {
    trace({ name: 'token', verdict: 'fail', detail: error.reason })
    const code = error.error === undefined ? 'no error code' : error.error
    return { status: error.status, text: `refused: ${error.status} ${code} (${error.code})` }
  }
  if (!(error instanceof HubRequestError)) throw error
  trace({ name: 'request', verdict: 'fail', detail: error.message })
  return { status: error.status, text: `refused: ${error.status} (${error.code})` }
}

/**
 * Tells what the hub would decide about a request and why: the first rule that the token breaks, or which of its
 * details grants which topic. Never repeats the token.
 */
export async function explainHub(
  parts: ExplainParts,
  question: HubQuestion,
  trace: Trace,
): Promise<HubVerdict> {
  const { config } = parts
  const missing = missingRoute(parts, question)
  if (missing !== undefined) return missing
  const matchers = createTopicMatchers(config.matcherBaseUrl, new MatchCache(0))
  const hub = createHubAuthenticator({ ...parts, matchers, clock: Date })
  const { method, token, origin } = question
  const role: HubRole = method === 'POST' ? 'publisher' : 'subscriber'
  const resourceIdentifier = config.resourceIdentifier ?? `${origin}${HUB_PATH}`
  const headers = token === undefined ? {} : { authorization: [`Bearer ${token}`] }
  trace({ name: 'role', verdict: 'note', detail: `${role}, aud has to be ${resourceIdentifier}` })
  try {
    const scheme = origin.startsWith('http:') ? 'http' : 'https'
    const bearer = await hub.authenticate({ method, scheme, headers, resourceIdentifier }, role)
    if (needsToken(parts, question, bearer)) {
      throw new HubAuthError('token_missing', 'the list of subscriptions needs a token')
    }
    const ends = bearer.anonymous ? '' : `, exp ${bearer.expiresAtMs / 1000}`
    const who = bearer.anonymous
      ? 'none needed: anonymous, public updates only'
      : 'every check passed'
    trace({ name: 'token', verdict: 'pass', detail: `${who}${ends}` })
    explainDetails(bearer.grants, trace)
    if (explainGrants(question, bearer, matchers.compile, trace))
      return { status: 200, text: 'allowed' }
    const text = 'refused: 403 insufficient_scope (not_granted)'
    return { status: 403, text }
  } catch (error) {
    return refusalOf(error, trace)
  } finally {
    hub.close()
  }
}
