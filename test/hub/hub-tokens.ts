import { createTopicMatchers, MatchCache } from '../../src/access/index.ts'
import { type HubConfig, loadHubConfig } from '../../src/config/index.ts'
import {
  createHubAuthenticator,
  type HubAuthenticator,
  type HubRequest,
} from '../../src/hub/index.ts'
import { type FakeClock, fakeClock, START_S } from '../support/clock.ts'
import { compactToken, type SigningKey } from '../support/tokens.ts'

/** The hub of the protocol page's checklist: one issuer, a key for each role, a pinned identifier. */
export const ISSUER = 'https://shop.example'
export const HUB = 'https://hub.shop.example/.well-known/mercure'
export const PUBLISHER_KEY = 'publisher-fixture-0123456789abcd'
export const SUBSCRIBER_KEY = 'subscriber-fixture-0123456789abc'
export const DETAIL_TYPE = 'https://mercure.rocks/authorization-detail'

/** Environment of that hub; `more` replaces or adds, `undefined` removes. */
export function hubEnvironment(more: Readonly<Record<string, string | undefined>> = {}) {
  return {
    MERCURE_ISSUER: ISSUER,
    MERCURE_PUBLISHER_JWT_KEY: PUBLISHER_KEY,
    MERCURE_SUBSCRIBER_JWT_KEY: SUBSCRIBER_KEY,
    MERCURE_RESOURCE_IDENTIFIER: HUB,
    ...more,
  }
}

export interface TestAuthenticator extends HubAuthenticator {
  readonly clock: FakeClock
  readonly config: HubConfig
}

/** An authenticator under a fake clock; close it when it fetches key sets. */
export function authenticatorOf(
  more: Readonly<Record<string, string | undefined>> = {},
): TestAuthenticator {
  const config = loadHubConfig(hubEnvironment(more))
  const clock = fakeClock()
  const matchers = createTopicMatchers(config.matcherBaseUrl, new MatchCache(1000))
  return { ...createHubAuthenticator({ config, matchers, clock }), clock, config }
}

/** A request with these fields over https to the pinned hub. */
export function requestWith(
  headers: Readonly<Record<string, string | readonly string[]>> = {},
  more: Partial<HubRequest> = {},
): HubRequest {
  const distinct = Object.entries(headers).map(([name, value]) => [
    name,
    typeof value === 'string' ? [value] : value,
  ])
  return {
    method: 'GET',
    scheme: 'https',
    resourceIdentifier: HUB,
    ...more,
    headers: Object.fromEntries(distinct),
  }
}

/** A request that presents a token in the header. */
export function bearing(token: string, more: Partial<HubRequest> = {}): HubRequest {
  return requestWith({ authorization: `Bearer ${token}` }, more)
}

/** One Mercure detail; `topics` may be patterns for short. */
export function detail(
  actions: unknown,
  topics: unknown,
  more: Readonly<Record<string, unknown>> = {},
): Record<string, unknown> {
  return { type: DETAIL_TYPE, actions, topics, ...more }
}

export interface AccessTokenParts {
  readonly alg?: string
  readonly key?: SigningKey
  /** Replace or add claims; `undefined` removes one. */
  readonly claims?: Readonly<Record<string, unknown>>
  /** Replace or add header members; `undefined` removes one. */
  readonly header?: Readonly<Record<string, unknown>>
}

/** A good subscriber token, one hour long, that grants both actions on everything. */
export function accessToken({ alg = 'HS256', key, claims, header }: AccessTokenParts = {}): string {
  return compactToken({
    alg,
    key: key ?? SUBSCRIBER_KEY,
    header: { alg, typ: 'at+jwt', ...header },
    payload: {
      iss: ISSUER,
      aud: HUB,
      sub: `${ISSUER}/people/7`,
      client_id: ISSUER,
      iat: START_S,
      exp: START_S + 3600,
      jti: 'urn:uuid:6d0cc5a4-0d5d-4ec4-8a49-4e5b4f8f8a0e',
      authorization_details: [detail(['publish', 'subscribe'], [{ match: '*' }])],
      ...claims,
    },
  })
}

/** A token signed with the publisher key. */
export function publisherToken(parts: AccessTokenParts = {}): string {
  return accessToken({ key: PUBLISHER_KEY, ...parts })
}
