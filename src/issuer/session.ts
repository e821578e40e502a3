import type { PubsubConfig } from '../config/index.ts'
import { JwksSource, type KeySource, type Log, secretSource } from '../keys/index.ts'
import {
  ALGORITHMS,
  type Algorithm,
  allowedAlgorithm,
  checkAudience,
  checkIssuer,
  checkTimes,
  claimsOf,
  decodeToken,
  keyRequest,
  readTimes,
  subjectOf,
  TokenError,
  verifySignature,
} from '../tokens/index.ts'
import type { SessionVerifier } from './caller.ts'

/** The tolerance that the queue broker has by default. */
const SKEW_S = 30
const JWKS_TIMEOUT_MS = 5000
const JWKS_REFRESH_S = 3600

type SessionSettings = Pick<
  PubsubConfig,
  'sessionSecret' | 'sessionJwksUrl' | 'sessionIssuer' | 'sessionAudience'
>

/** What sessions are verified with, besides the settings. */
export interface SessionTools {
  readonly clock: { now(): number }
  readonly log: Log
}

/** A verifier of session tokens and the key source behind it. */
export interface Sessions {
  readonly verify: SessionVerifier
  close(): void
}

/** The source that fits an algorithm: the secret for HS, the key set for all others; each only if it is set. */
type SourceOf = (algorithm: Algorithm) => KeySource | undefined

function sourcesOf(settings: SessionSettings, { clock, log }: SessionTools) {
  const { sessionSecret, sessionJwksUrl } = settings
  const secret =
    sessionSecret === '' ? undefined : secretSource(sessionSecret, 'PUBSUB_SESSION_JWT_SECRET')
  const keySet =
    sessionJwksUrl === ''
      ? undefined
      : new JwksSource({
          url: sessionJwksUrl,
          kinds: ['rsa', 'ec-p256', 'ec-p384', 'ec-p521', 'ed25519'],
          choice: 'queue',
          timeoutMs: JWKS_TIMEOUT_MS,
          refreshIntervalS: JWKS_REFRESH_S,
          clock,
          log,
        })
  const sourceOf: SourceOf = ({ family }) => (family === 'HMAC' ? secret : keySet)
  return { sourceOf, close: () => keySet?.close() }
}

async function subjectOfSession(
  compact: string,
  settings: SessionSettings,
  sourceOf: SourceOf,
  nowS: number,
): Promise<string> {
  const token = decodeToken(compact)
  const algorithm = allowedAlgorithm(token, ALGORITHMS)
  const source = sourceOf(algorithm)
  // The configured material decides which algorithms count, never the token.
  if (!source) throw new TokenError('algorithm_not_allowed', 'no key material for the algorithm')
  const keys = await source.candidates(keyRequest(token, algorithm))
  await verifySignature(token, algorithm, keys)
  const claims = claimsOf(token)
  checkTimes(readTimes(claims), { skewS: SKEW_S }, nowS)
  if (settings.sessionIssuer !== '') checkIssuer(claims, settings.sessionIssuer)
  if (settings.sessionAudience !== '') checkAudience(claims, settings.sessionAudience)
  const subject = subjectOf(claims)
  if (!subject) throw new TokenError('claims_invalid', 'sub is missing')
  return subject
}

/**
 * Verifies users' session tokens with the token core of the queue broker (token issuing, 1.5). Without
 * secret and key set no token is good.
 */
export function openSessions(settings: SessionSettings, tools: SessionTools): Sessions {
  const { sourceOf, close } = sourcesOf(settings, tools)
  return {
    close,
    async verify(token) {
      try {
        return await subjectOfSession(token, settings, sourceOf, tools.clock.now() / 1000)
      } catch (error) {
        if (!(error instanceof TokenError)) throw error
        tools.log.info({ reason: error.code, detail: error.message }, 'session token refused')
        return undefined
      }
    },
  }
}
