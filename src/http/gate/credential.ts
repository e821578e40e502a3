import { TokenError } from '../../tokens/index.ts'

/** `Bearer` in any letter case and the white space after it. */
const BEARER_PREFIX = /^bearer[ \t]+/i
const HEADER_NAME = 'authorization'

/**
 * The one `Authorization` header of a request; undefined without one. Node keeps only the first of several in
 * `headers`, so the raw list is read.
 * @param rawHeaders names and values in turn, as `IncomingMessage.rawHeaders`
 * @throws TokenError (`token_malformed`) for several headers: nobody can say which one is meant
 */
function authorizationOf(rawHeaders: readonly string[]): string | undefined {
  let value: string | undefined
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at]
    if (name?.length !== HEADER_NAME.length || name.toLowerCase() !== HEADER_NAME) continue
    if (value !== undefined) {
      throw new TokenError('token_malformed', 'several Authorization headers')
    }
    value = rawHeaders[at + 1] ?? ''
  }
  return value
}

/**
 * Takes the token out of the header. Seed "The token on the wire": `Bearer ` is stripped in any letter case, a bare
 * token is accepted too. Undefined if there is no credential. Another scheme keeps its name and so is no token.
 * @param rawHeaders names and values in turn, as `IncomingMessage.rawHeaders`
 * @throws TokenError (`token_malformed`) for several headers
 */
export function bearerToken(rawHeaders: readonly string[]): string | undefined {
  const value = authorizationOf(rawHeaders)?.trim() ?? ''
  return value === '' ? undefined : value.replace(BEARER_PREFIX, '')
}
