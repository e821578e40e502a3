/** The challenge of RFC 6750 §3 that goes with a refusal. */
type Challenge = 'none' | 'bare' | 'invalid_token' | 'insufficient_scope'

interface Face {
  readonly status: number
  readonly text: string
  readonly challenge: Challenge
}

/** Every refusal of the issuer (token issuing, 1.5 and 1.8). Texts are fixed: nothing a caller sent is repeated. */
const FACES = {
  credential_missing: { status: 401, text: 'Authentication required', challenge: 'bare' },
  // One answer for unknown, expired, revoked and forged: it tells a guesser nothing.
  credential_invalid: { status: 401, text: 'Invalid credential', challenge: 'invalid_token' },
  no_claims: { status: 401, text: 'No stream abilities', challenge: 'invalid_token' },
  forbidden: { status: 403, text: 'Insufficient permissions', challenge: 'insufficient_scope' },
  invalid_argument: { status: 400, text: 'Invalid argument', challenge: 'none' },
  not_found: { status: 404, text: 'Not Found', challenge: 'none' },
  conflict: { status: 409, text: 'Already exists', challenge: 'none' },
  minting_off: { status: 503, text: 'Minting is not configured', challenge: 'none' },
} as const satisfies Record<string, Face>

export type IssuerErrorCode = keyof typeof FACES

/** A refusal with its status; `message` becomes the `error` member of the answer. */
export class IssuerError extends Error {
  readonly code: IssuerErrorCode
  readonly status: number
  readonly challenge: Challenge
  constructor(code: IssuerErrorCode, text: string = FACES[code].text) {
    super(text)
    this.name = 'IssuerError'
    this.code = code
    this.status = FACES[code].status
    this.challenge = FACES[code].challenge
  }
}

/** The `WWW-Authenticate` value of a refusal; undefined for one that asks for no credential. */
export function challengeOf(error: IssuerError): string | undefined {
  if (error.challenge === 'none') return undefined
  return error.challenge === 'bare' ? 'Bearer' : `Bearer error="${error.challenge}"`
}
