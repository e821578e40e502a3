import {
  algorithmList,
  byteSize,
  cacheSize,
  cookieName,
  originList,
  probability,
  publicOrigins,
  resourceIdentifier,
} from './hub-kinds.ts'
import { HUB_ALGORITHMS } from './hub-types.ts'
import { duration, flag, integer, oneOf, text } from './kinds.ts'
import { type Settings, secret, variable } from './variable.ts'

const NONE: readonly string[] = Object.freeze([])
const MIB = 1_048_576
const MAX_HISTORY = 1_000_000_000
const MAX_CACHE = 99_999_999

function roleVariables<const R extends 'PUBLISHER' | 'SUBSCRIBER'>(role: R) {
  const who = role.toLowerCase()
  return {
    key: secret(
      `MERCURE_${role}_JWT_KEY`,
      text,
      '',
      `Key that verifies ${who} tokens: a raw secret, or a public key as PEM`,
    ),
    alg: variable(
      `MERCURE_${role}_JWT_ALG`,
      oneOf(['', ...HUB_ALGORITHMS]),
      '',
      `Algorithm of that key; HS256 for a raw secret, to be stated for PEM`,
    ),
    jwksUri: variable(
      `MERCURE_${role}_JWKS_URI`,
      text,
      '',
      `JWK set that verifies ${who} tokens (http, https or file URL), instead of a key`,
    ),
    jwksAlgs: variable(
      `MERCURE_${role}_JWKS_ALGS`,
      algorithmList,
      [],
      `Algorithms accepted from that set; empty: every asymmetric one`,
    ),
  } as const
}

const publisher = roleVariables('PUBLISHER')
const subscriber = roleVariables('SUBSCRIBER')

/** `MERCURE_*`: the event hub. Defaults are those of the hub protocol page, section 20. */
export const HUB_VARIABLES = {
  issuer: variable(
    'MERCURE_ISSUER',
    text,
    '',
    'Trusted issuer, compared with iss exactly; https://localhost when only keys are given',
  ),
  trustedIssuers: variable('MERCURE_TRUSTED_ISSUERS', text, '', 'Another name of MERCURE_ISSUER'),
  authorizationServer: variable(
    'MERCURE_AUTHORIZATION_SERVER',
    flag,
    false,
    'Names the issuer as an authorization server in the metadata document',
  ),
  publisherKey: publisher.key,
  publisherAlg: publisher.alg,
  publisherJwksUri: publisher.jwksUri,
  publisherJwksAlgs: publisher.jwksAlgs,
  subscriberKey: subscriber.key,
  subscriberAlg: subscriber.alg,
  subscriberJwksUri: subscriber.jwksUri,
  subscriberJwksAlgs: subscriber.jwksAlgs,
  issuersFile: variable('MERCURE_ISSUERS_FILE', text, '', 'JSON file with further issuers'),
  resourceIdentifier: variable(
    'MERCURE_RESOURCE_IDENTIFIER',
    resourceIdentifier,
    '',
    'What aud has to contain; empty: the hub URL that the client contacted',
  ),
  publicUrls: variable(
    'MERCURE_PUBLIC_URLS',
    publicOrigins,
    NONE,
    'Origins under which the hub is served, any other is 421; empty: no restriction',
  ),
  allowInsecureHttp: variable(
    'MERCURE_ALLOW_INSECURE_HTTP',
    flag,
    false,
    'Takes tokens over plain HTTP, for development and tests only',
  ),
  anonymous: variable(
    'MERCURE_ANONYMOUS',
    flag,
    false,
    'Lets subscribers without a token receive public updates',
  ),
  subscriptions: variable(
    'MERCURE_SUBSCRIPTIONS',
    flag,
    false,
    'Publishes active subscriptions as events and through the web API',
  ),
  publishOrigins: variable(
    'MERCURE_PUBLISH_ORIGINS',
    originList,
    NONE,
    'Origins that may publish with the cookie; empty: none',
  ),
  corsOrigins: variable(
    'MERCURE_CORS_ORIGINS',
    originList,
    NONE,
    'Origins whose scripts may read the hub’s answers; * allows all, without credentials',
  ),
  cookieName: variable(
    'MERCURE_COOKIE_NAME',
    cookieName,
    '',
    'Cookie that holds the token; empty: __Secure-mercure_access_token',
  ),
  heartbeatMs: variable(
    'MERCURE_HEARTBEAT',
    duration,
    40_000,
    'Silence after which a comment is sent; 0: never',
  ),
  writeTimeoutMs: variable(
    'MERCURE_WRITE_TIMEOUT',
    duration,
    600_000,
    'Longest life of one stream; 0: no limit',
  ),
  dispatchTimeoutMs: variable(
    'MERCURE_DISPATCH_TIMEOUT',
    duration,
    5000,
    'Longest time to write one update to one subscriber; 0: no limit',
  ),
  maxRequestBodyBytes: variable(
    'MERCURE_MAX_REQUEST_BODY_SIZE',
    byteSize,
    MIB,
    'Largest body of a publish request; 0: no limit',
  ),
  transport: variable(
    'MERCURE_TRANSPORT',
    oneOf(['persistent', 'local']),
    'persistent',
    'persistent keeps history in the store, local keeps none',
  ),
  historySize: variable(
    'MERCURE_HISTORY_SIZE',
    integer(0, MAX_HISTORY),
    0,
    'Most updates kept; 0: unlimited',
  ),
  cleanupFrequency: variable(
    'MERCURE_CLEANUP_FREQUENCY',
    probability,
    0.3,
    'Probability that a publish trims the history',
  ),
  topicMatcherCache: variable(
    'MERCURE_TOPIC_MATCHER_CACHE',
    cacheSize,
    100_000,
    'Match results kept; 0 or less: none',
  ),
  subscriberListCacheSize: variable(
    'MERCURE_SUBSCRIBER_LIST_CACHE_SIZE',
    integer(0, MAX_CACHE),
    100_000,
    'Recipient lists kept; 0: unbounded',
  ),
  debugger: variable('MERCURE_DEBUGGER', flag, false, 'Serves the debugging page'),
  dev: variable(
    'MERCURE_DEV',
    flag,
    false,
    'Development mode: hands out full access, for local work only',
  ),
} as const

/** The variables as they are written, before rules across them. */
export type HubSettings = Settings<typeof HUB_VARIABLES>
