/** The three error codes of RFC 6750 section 3.1; a challenge without one asks for a token. */
export type ChallengeCode = 'invalid_request' | 'invalid_token' | 'insufficient_scope'

/** What a bearer challenge looks like on the wire. */
interface Face {
  readonly status: 400 | 401 | 403
  readonly error: ChallengeCode | undefined
}

/**
 * The four situations in which the hub challenges the client. RFC 6750 section 3: a request without any
 * credential gets no error code; section 3.1 gives the status of each code.
 */
const FACES = {
  token_missing: { status: 401, error: undefined },
  token_badly_presented: { status: 400, error: 'invalid_request' },
  token_invalid: { status: 401, error: 'invalid_token' },
  not_granted: { status: 403, error: 'insufficient_scope' },
} as const satisfies Record<string, Face>

export type HubAuthCode = keyof typeof FACES

/**
 * A request that the hub refuses because of its token. `reason` is for the operator's log only: every
 * defect of a token gets the same answer, and the reason never names a token or a key.
 */
export class HubAuthError extends Error {
  readonly code: HubAuthCode
  readonly status: 400 | 401 | 403
  readonly error: ChallengeCode | undefined
  readonly reason: string
  constructor(code: HubAuthCode, reason: string, options?: ErrorOptions) {
    super(`${code}: ${reason}`, options)
    this.name = 'HubAuthError'
    this.code = code
    this.status = FACES[code].status
    this.error = FACES[code].error
    this.reason = reason
  }
}

/**
 * The value of `WWW-Authenticate` for a refusal: `Bearer error="…", resource_metadata="…"`.
 * `metadataUrl` is the absolute URL of the metadata document (RFC 9728 section 5.1), left out when no
 * absolute URL can be built.
 */
export function challengeOf(error: HubAuthError, metadataUrl?: string): string {
  const parameters = [
    ...(error.error === undefined ? [] : [`error="${error.error}"`]),
    ...(metadataUrl === undefined ? [] : [`resource_metadata="${metadataUrl}"`]),
  ]
  return parameters.length === 0 ? 'Bearer' : `Bearer ${parameters.join(', ')}`
}

/** A request that is malformed apart from its token: 400 with a short text that names the field. */
export class HubRequestError extends Error {
  readonly code: string
  readonly status: 400 | 413
  constructor(code: string, text: string, status: 400 | 413 = 400) {
    super(text)
    this.name = 'HubRequestError'
    this.code = code
    this.status = status
  }
}
