import type { Grants } from '../access/index.ts'
import type { HubRole } from '../config/index.ts'

/** What the authorization core needs to know of a request; nothing else of it is ever looked at. */
export interface HubRequest {
  readonly method: string
  /** The effective scheme: TLS on the socket, or what a trusted proxy says. */
  readonly scheme: 'http' | 'https'
  /** `req.headersDistinct`: every occurrence of a field is kept, so repeats can be seen. */
  readonly headers: Readonly<Record<string, readonly string[] | undefined>>
  /** The value that `aud` has to contain for this request; see `resourceIdentifierOf`. */
  readonly resourceIdentifier: string
}

/** A bearer whose token passed every check. */
export interface TokenBearer {
  readonly anonymous: false
  readonly grants: Grants
  /** The verified claims; unknown shape apart from what was checked. */
  readonly claims: Readonly<Record<string, unknown>>
  /** `exp` in ms since the epoch: a stream ends no later than this. */
  readonly expiresAtMs: number
}

/** A subscriber without a token, where that is allowed: public updates only. */
export interface Anonymous {
  readonly anonymous: true
  readonly grants: Grants
}

export type HubIdentity = TokenBearer | Anonymous

/** Answers "who is this?" for the hub. */
export interface HubAuthenticator {
  /**
   * Checks the presentation of the token, then the token itself.
   * @throws HubAuthError 400, 401 or 403; see `challengeOf` for the header that goes with it
   */
  authenticate(request: HubRequest, role: HubRole): Promise<HubIdentity>
  /** Ends background key refreshes. */
  close(): void
}
