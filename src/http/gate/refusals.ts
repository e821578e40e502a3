import { KeyError } from '../../keys/index.ts'
import { TokenError, type TokenErrorCode } from '../../tokens/index.ts'

/** Why the gate refuses; stable, the label of metrics and log lines. */
export type RefusalReason =
  | TokenErrorCode
  | 'credential_missing'
  | 'role_missing'
  | 'secret_missing'
  | 'rsa_key_unusable'
  | 'ed_key_unusable'
  | 'mount_mismatch'
  | 'unexpected'

/** What a client sees of a refusal: status, the one member `error` of the body, and the challenge. */
export interface RefusalFace {
  readonly status: 401 | 403 | 500
  readonly text: string
  /** Value of `WWW-Authenticate` (RFC 6750 §3); absent for faults of the server. */
  readonly challenge?: string
}

/** RFC 6750 §3.1: a request without a credential gets no error code. */
const BARE = 'Bearer'
const INVALID = 'Bearer error="invalid_token"'
const INSUFFICIENT = 'Bearer error="insufficient_scope"'

const invalid = (text: string): RefusalFace => ({ status: 401, text, challenge: INVALID })
const ours = (text: string): RefusalFace => ({ status: 500, text })

/** The error table of the seed ("The token on the wire") and of design.md; the texts are exact. */
export const REFUSALS: Readonly<Record<RefusalReason, RefusalFace>> = {
  credential_missing: { status: 401, text: 'Authentication required', challenge: BARE },
  token_malformed: invalid('Bad token header'),
  algorithm_not_allowed: invalid('Unsupported token algorithm'),
  key_unknown: invalid('Unknown key ID'),
  signature_invalid: invalid('Invalid token signature'),
  claims_invalid: invalid('Invalid token claims'),
  token_expired: invalid('Token has expired'),
  token_not_active: invalid('Token not yet valid'),
  token_from_future: invalid('Token issued in the future'),
  issuer_invalid: invalid('Invalid token issuer'),
  audience_invalid: invalid('Invalid token audience'),
  role_missing: { status: 403, text: 'Insufficient permissions', challenge: INSUFFICIENT },
  secret_missing: ours('HS secret not configured'),
  rsa_key_unusable: ours('invalid RSA public key PEM'),
  ed_key_unusable: ours('invalid Ed public key PEM'),
  mount_mismatch: ours('authentication is mounted at another path than its basePath'),
  unexpected: ours('Internal server error'),
}

/**
 * The reason code of what went wrong while a token was judged, or undefined for an error that is no judgement at all
 * and must not be passed off as one.
 */
export function reasonOf(error: unknown): RefusalReason | undefined {
  if (error instanceof TokenError) return error.code
  if (!(error instanceof KeyError)) return undefined
  if (error.code === 'secret_missing') return 'secret_missing'
  return error.kind === 'ed25519' ? 'ed_key_unusable' : 'rsa_key_unusable'
}
