import { HttpError } from '../../http/index.ts'
import { microsOf } from '../micros.ts'

export { microsOf } from '../micros.ts'

/**
 * The same for a member that must be readable.
 * @throws HttpError 400 naming `member`
 */
export function requiredMicros(text: string | null | undefined, member: string): number {
  const micros = microsOf(text)
  if (micros !== undefined) return micros
  throw new HttpError('invalid_request', `${member} must be an ISO-8601 time`)
}
