import { TokenError } from '../../tokens/index.ts'

/** `Bearer` in any letter case and the white space after it. */
const BEARER_PREFIX = /^bearer[ \t]+/i
const HEADER_NAME = 'authorization'

/**
 * The values of every `Authorization` header of a request. Node keeps only the first of several in `headers`, so the
 * raw list is read.
 * @param rawHeaders names and values in turn, as `IncomingMessage.rawHeaders`
 */
export function authorizationValues(rawHeaders: readonly string[]): readonly string[] {
  const values: string[] = []
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at]
    if (name?.length === HEADER_NAME.length && name.toLowerCase() === HEADER_NAME) {
      values.push(rawHeaders[at + 1] ?? '')
    }
  }
  return values
}

/**
 * Takes the token out of the header. Seed "The token on the wire": `Bearer ` is stripped in any letter case, a bare
 * token is accepted too. Undefined if there is no credential. Another scheme keeps its name and so is no token.
 * @throws TokenError (`token_malformed`) for several headers: nobody can say which one is meant
 */
export function bearerToken(values: readonly string[]): string | undefined {
  if (values.length > 1) {
    throw new TokenError('token_malformed', 'several Authorization headers')
  }
  const value = values[0]?.trim() ?? ''
  return value === '' ? undefined : value.replace(BEARER_PREFIX, '')
}
