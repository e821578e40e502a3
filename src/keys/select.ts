import { fits, type KeyRequest, type VerificationKey } from './key.ts'

/**
 * How keys of a set are chosen for a token.
 * `queue` (seed: "A JWKS endpoint"): no `kid` takes the first key that fits; a `kid` takes the keys of that name,
 * and if there is none the first unnamed key that fits.
 * `hub` (hub protocol §6.3): no `kid` tries each key that fits; a `kid` takes the keys of that name only.
 * Under both, two different keys with one name are tried in document order.
 */
export type KeyChoice = 'queue' | 'hub'

/** The keys of a set to try for a token, in document order. */
export function chooseKeys(
  keys: readonly VerificationKey[],
  request: KeyRequest,
  choice: KeyChoice,
): readonly VerificationKey[] {
  const fitting = keys.filter((key) => fits(key, request))
  const { kid } = request
  if (kid === undefined || kid === '') return choice === 'queue' ? fitting.slice(0, 1) : fitting
  const named = fitting.filter((key) => key.kid === kid)
  if (named.length > 0 || choice === 'hub') return named
  return fitting.filter((key) => key.kid === undefined).slice(0, 1)
}
