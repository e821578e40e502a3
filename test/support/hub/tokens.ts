import { mint } from '../tokens.ts'
import { HUB_ID, ISSUER, PUBLISHER_KEY, SUBSCRIBER_KEY } from './config.ts'

/** A topic of a grant: an exact one as text, or any entry as it stands in a token. */
export type GrantedTopic = string | Readonly<Record<string, unknown>>

/** One Mercure detail. */
export function detail(
  action: 'publish' | 'subscribe',
  topics: readonly GrantedTopic[],
  members: Readonly<Record<string, unknown>> = {},
): unknown {
  return {
    type: 'https://mercure.rocks/authorization-detail',
    actions: [action],
    topics: topics.map((topic) => (typeof topic === 'string' ? { match: topic } : topic)),
    ...members,
  }
}

/** A URL pattern as it stands in a token. */
export function pattern(match: string): GrantedTopic {
  return { match, match_type: 'urlpattern' }
}

/** An access token (RFC 9068) with these details; good for an hour from now unless `claims` says else. */
export function accessToken(
  details: readonly unknown[],
  options: { readonly key: string; readonly claims?: Readonly<Record<string, unknown>> },
): string {
  const nowS = Math.floor(Date.now() / 1000)
  return mint({
    key: options.key,
    header: { typ: 'at+jwt' },
    claims: {
      iss: ISSUER,
      aud: HUB_ID,
      sub: 'https://shop.example/people/7',
      role: undefined,
      iat: nowS,
      exp: nowS + 3600,
      authorization_details: details,
      ...options.claims,
    },
  })
}

/** A token that may publish to these topics; without any it grants nothing. */
export function publisherToken(topics: readonly GrantedTopic[] = ['*'], claims = {}): string {
  const details = topics.length === 0 ? [] : [detail('publish', topics)]
  return accessToken(details, { key: PUBLISHER_KEY, claims })
}

/** A token that may read private updates of these topics; without any it grants nothing. */
export function subscriberToken(topics: readonly GrantedTopic[] = ['*'], claims = {}): string {
  const details = topics.length === 0 ? [] : [detail('subscribe', topics)]
  return accessToken(details, { key: SUBSCRIBER_KEY, claims })
}

/** The header that carries a token. */
export function bearer(token: string): { readonly Authorization: string } {
  return { Authorization: `Bearer ${token}` }
}
