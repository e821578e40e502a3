/** Why a token is refused. Stable: logs, metrics and the answer tables are keyed by these. */
export type TokenErrorCode =
  | 'token_malformed'
  | 'algorithm_not_allowed'
  | 'key_unknown'
  | 'signature_invalid'
  | 'claims_invalid'
  | 'token_expired'
  | 'token_not_active'
  | 'token_from_future'
  | 'issuer_invalid'
  | 'audience_invalid'

/**
 * A token that is bad. `message` is for the log: it may name claim values, never the token, a signature or a key.
 * What a client is told, and with which status, each dialect decides by `code`.
 */
export class TokenError extends Error {
  readonly code: TokenErrorCode
  constructor(code: TokenErrorCode, message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'TokenError'
    this.code = code
  }
}
