import { randomUUID } from 'node:crypto'
import type { Claims } from '../tokens/index.ts'
import { MERCURE_DETAIL_TYPE } from './authorization-details.ts'

/** Topics by matcher type. */
export interface GrantedTopics {
  readonly exact: readonly string[]
  readonly urlpattern: readonly string[]
}

/** What a self-issued token says; `sub` is random and `clientId` is the issuer unless given. */
export interface SelfIssued {
  readonly iss: string
  readonly aud: string
  readonly sub?: string | undefined
  readonly clientId?: string | undefined
  /** NumericDates, in seconds. */
  readonly iatS: number
  readonly expS: number
  readonly publish: GrantedTopics
  readonly subscribe: GrantedTopics
  /** Any JSON value, shown to whoever may see the bearer's subscriptions; `undefined` for none. */
  readonly payload?: unknown
}

function detailOf(action: 'publish' | 'subscribe', topics: GrantedTopics): readonly Claims[] {
  const matchers = [
    ...topics.exact.map((match) => ({ match })),
    ...topics.urlpattern.map((match) => ({ match, match_type: 'urlpattern' })),
  ]
  if (matchers.length === 0) return []
  return [{ type: MERCURE_DETAIL_TYPE, actions: [action], topics: matchers }]
}

/**
 * The claims of a token that an application mints for itself: everything that RFC 9068 section 2.2 obliges an issuer
 * to set, and one detail for each action that is granted on something. Topics are not checked: the hub does that.
 */
export function selfIssuedClaims(token: SelfIssued): Claims {
  const { iss, aud, sub, clientId, iatS, expS, payload } = token
  const subscribe = detailOf('subscribe', token.subscribe).map((detail) =>
    payload === undefined ? detail : { ...detail, payload },
  )
  return {
    iss,
    aud,
    sub: sub ?? `urn:uuid:${randomUUID()}`,
    client_id: clientId ?? iss,
    iat: iatS,
    exp: expS,
    jti: `urn:uuid:${randomUUID()}`,
    authorization_details: [...detailOf('publish', token.publish), ...subscribe],
  }
}
