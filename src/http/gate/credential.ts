import { TokenError } from '../../tokens/index.ts'
import { headerValues } from '../raw-headers.ts'

/** `Bearer` in any letter case and the white space after it. */
const BEARER_PREFIX = /^bearer[ \t]+/i

/**
 * The value of the one `Authorization` header, as it came; undefined without one or with a blank one.
 * @param rawHeaders names and values in turn, as `IncomingMessage.rawHeaders`
 * @throws TokenError (`token_malformed`) for several headers: nobody can say which one is meant
 */
export function credentialOf(rawHeaders: readonly string[]): string | undefined {
  const values = headerValues(rawHeaders, 'authorization')
  if (values.length > 1) throw new TokenError('token_malformed', 'several Authorization headers')
  const [value = ''] = values
  return value.trim() === '' ? undefined : value
}

/**
 * Takes the token out of the header's value. Seed "The token on the wire": `Bearer ` is stripped in any letter case, a
 * bare token is accepted too. Another scheme keeps its name and so is no token.
 */
export function tokenOf(credential: string): string {
  return credential.trim().replace(BEARER_PREFIX, '')
}
