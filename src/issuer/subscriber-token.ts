import { KeyObject } from 'node:crypto'
import { v4 as uuidv4 } from 'uuid'
import { isPermittedText, MAX_PATTERN_BYTES, WILDCARD } from '../access/index.ts'
import {
  KeyError,
  readPrivateJwk,
  readPrivatePem,
  readSecret,
  type SigningKey,
} from '../keys/index.ts'
import { ALGORITHMS, type Algorithm, type AlgorithmName, mintToken } from '../tokens/index.ts'

/** ADR-056: one hour; a longer subscription fetches a new token. */
export const SUBSCRIBER_TTL_S = 3600

/** The `type` of a grant that the event hub reads (hub protocol, 7). */
const DETAIL_TYPE = 'https://mercure.rocks/authorization-detail'

/** Who mints for whom, and with which key. */
export interface SubscriberTokenIssuerOptions {
  /** `iss`: the identifier that the hub trusts. */
  readonly issuer: string
  /** `aud`: the hub's resource identifier, such as `https://host/.well-known/mercure`. */
  readonly audience: string
  /** A secret for HS algorithms, a private key as PEM for the others, or a private JWK or key object. */
  readonly key: string | object
  readonly alg: AlgorithmName
  readonly kid?: string
  /** Time in ms; default: the machine's. */
  readonly clock?: { now(): number }
}

/** One grant: a bearer, one topic, a lifetime. */
export interface SubscriberGrant {
  /** Matched exactly; usually the object's path, such as `/trips/42`. */
  readonly topic: string
  /** `sub`: the authenticated user. */
  readonly subject: string
  /** Lifetime in seconds; default one hour. */
  readonly ttlSeconds?: number
}

/** The one source of subscriber tokens, whichever way they are delivered. */
export interface SubscriberTokenIssuer {
  /** @throws TypeError for a topic that would be a wildcard or that the hub would refuse, and for no subject */
  mint(grant: SubscriberGrant): Promise<string>
}

function algorithmOf(alg: string): Algorithm {
  const algorithm = ALGORITHMS.get(alg)
  if (!algorithm) throw new KeyError('key_unusable', 'the algorithm is not supported')
  return algorithm
}

/** The algorithm says what the key text is, never the look of the text. */
function readKey(key: string | object, algorithm: Algorithm): SigningKey {
  const read = () => {
    if (key instanceof KeyObject) return readPrivateJwk(key.export({ format: 'jwk' }))
    if (typeof key !== 'string') return readPrivateJwk(key)
    return algorithm.family === 'HMAC' ? readSecret(key) : readPrivatePem(key)
  }
  const signingKey = read()
  if (signingKey.kind === algorithm.kind) return signingKey
  throw new KeyError(
    'key_unusable',
    `${algorithm.name} needs a key of kind ${algorithm.kind}, not ${signingKey.kind}`,
    algorithm.kind,
  )
}

/**
 * Whether a token can open exactly this topic. One named `*` would open every private update; the other texts that
 * are refused the hub would refuse with the whole token.
 */
export function isGrantableTopic(topic: string): boolean {
  const fits = topic !== '' && Buffer.byteLength(topic) <= MAX_PATTERN_BYTES
  return topic !== WILDCARD && fits && isPermittedText(topic)
}

/** Callers without types give numbers and gaps, which would end up in a claim that no verifier takes. */
function checkText(name: string, value: unknown): void {
  if (typeof value !== 'string' || value === '') {
    throw new TypeError(`${name} must be text, and not empty`)
  }
}

function checkTtl(ttlSeconds: number): void {
  if (!Number.isSafeInteger(ttlSeconds) || ttlSeconds < 1) {
    throw new TypeError('ttlSeconds must be a whole number of seconds, at least 1')
  }
}

/**
 * Makes the issuer of subscriber tokens (ADR-056 as amended): RFC 9068 tokens, `typ: at+jwt`, with one
 * `authorization_details` grant: action `subscribe` on exactly one topic.
 * @throws KeyError (`key_unusable`, `secret_missing`) when the key does not fit the algorithm, TypeError without an
 * issuer or an audience
 */
export function createSubscriberTokenIssuer(
  options: SubscriberTokenIssuerOptions,
): SubscriberTokenIssuer {
  const { issuer, audience, kid, clock = Date } = options
  checkText('issuer', issuer)
  checkText('audience', audience)
  const algorithm = algorithmOf(options.alg)
  const key = readKey(options.key, algorithm)
  return {
    async mint({ topic, subject, ttlSeconds = SUBSCRIBER_TTL_S }) {
      checkText('topic', topic)
      if (!isGrantableTopic(topic)) {
        throw new TypeError('topic must be one exact topic that can be published')
      }
      checkTtl(ttlSeconds)
      checkText('subject', subject)
      const iat = Math.floor(clock.now() / 1000)
      const grant = { type: DETAIL_TYPE, actions: ['subscribe'], topics: [{ match: topic }] }
      return mintToken({
        alg: algorithm.name,
        key,
        typ: 'at+jwt',
        ...(kid === undefined ? {} : { kid }),
        claims: {
          iss: issuer,
          aud: audience,
          sub: subject,
          client_id: issuer,
          iat,
          exp: iat + ttlSeconds,
          jti: `urn:uuid:${uuidv4()}`,
          authorization_details: [grant],
        },
      })
    },
  }
}
