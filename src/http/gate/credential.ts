import { TokenError } from '../../tokens/index.ts'
import { headerValues } from '../raw-headers.ts'

/** `Bearer` in any letter case and the white space after it. */
const BEARER_PREFIX = /^bearer[ \t]+/i
const USUAL_PREFIX = 'Bearer '
const SPACE = 0x20

/**
 * Takes the token out of the header. Seed "The token on the wire": `Bearer ` is stripped in any letter case, a bare
 * token is accepted too. Undefined if there is no credential. Another scheme keeps its name and so is no token.
 * @param rawHeaders names and values in turn, as `IncomingMessage.rawHeaders`
 * @throws TokenError (`token_malformed`) for several headers: nobody can say which one is meant
 */
export function bearerToken(rawHeaders: readonly string[]): string | undefined {
  const values = headerValues(rawHeaders, 'authorization')
  if (values.length > 1) throw new TokenError('token_malformed', 'several Authorization headers')
  const value = values[0]?.trim() ?? ''
  if (value === '') return undefined
  // As nearly all clients write it; a regular expression would cost as much as the rest.
  if (value.startsWith(USUAL_PREFIX) && value.charCodeAt(USUAL_PREFIX.length) > SPACE) {
    return value.slice(USUAL_PREFIX.length)
  }
  return value.replace(BEARER_PREFIX, '')
}
