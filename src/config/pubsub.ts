import { z } from 'zod'
import { flag, httpUrl, integer, text } from './kinds.ts'
import { type MintingKey, parsePrivateJwk, SIGNING_ALGS } from './signing-jwk.ts'
import { type Kind, type Settings, secret, variable } from './variable.ts'

/** The least and the greatest lifetime of a path-prefix token in seconds (seed: 60–86400). */
export const TOKEN_TTL_RANGE_S = { min: 60, max: 86_400 } as const

const privateJwk: Kind<MintingKey | undefined> = {
  schema: z.string().transform((value, context) => {
    const key = parsePrivateJwk(value)
    if (key) return key
    context.addIssue({ code: 'custom', message: 'not a private signing JWK' })
    return z.NEVER
  }),
  accepts:
    'one private JWK (JSON or base64url of it) with a kid of letters, digits, _ and -, an alg of ' +
    `${SIGNING_ALGS.join(', ')}, and the private members that belong to it (RSA: 2048 bits or more)`,
}

/** Path-prefix tokens. Names, defaults and ranges are those of the seed "Pub/sub tokens". */
export const PUBSUB_VARIABLES = {
  mintingKey: secret(
    'PUBSUB_JWT_PRIVATE_JWK',
    privateJwk,
    undefined,
    'Private JWK that signs path-prefix tokens; without it nothing is minted',
  ),
  tokenTtlS: variable(
    'PUBSUB_TOKEN_TTL_SEC',
    integer(TOKEN_TTL_RANGE_S.min, TOKEN_TTL_RANGE_S.max),
    3600,
    'Lifetime of a path-prefix token in seconds',
  ),
  serviceRoleKey: secret(
    'PUBSUB_SERVICE_ROLE_KEY',
    text,
    '',
    'Key of trusted backends; empty: no caller is a service',
  ),
  sessionSecret: secret(
    'PUBSUB_SESSION_JWT_SECRET',
    text,
    '',
    'HS256/384/512 key that verifies users’ session tokens, used as raw bytes',
  ),
  sessionJwksUrl: variable(
    'PUBSUB_SESSION_JWKS_URL',
    httpUrl,
    '',
    'JWK set that verifies users’ session tokens',
  ),
  sessionIssuer: variable(
    'PUBSUB_SESSION_ISSUER',
    text,
    '',
    'Required iss of session tokens, compared exactly; empty: not checked',
  ),
  sessionAudience: variable(
    'PUBSUB_SESSION_AUDIENCE',
    text,
    '',
    'Required member of aud of session tokens; empty: not checked',
  ),
  hub: variable('PUBSUB_HUB', flag, false, 'The event hub also accepts path-prefix tokens'),
} as const

/** The settings of minting and of the hub's second dialect; frozen. */
export type PubsubConfig = Settings<typeof PUBSUB_VARIABLES>

/** RFC 7518 section 3.2: the least for HS256, and out of reach of guessing. */
const LEAST_SECRET_BYTES = 32

/** Secrets that work but are weak, or are not what their owner means. Never repeats one. */
export function pubsubWarnings(settings: PubsubConfig): readonly string[] {
  return (['serviceRoleKey', 'sessionSecret'] as const).flatMap((setting) => {
    const { name } = PUBSUB_VARIABLES[setting]
    const value = settings[setting]
    const bytes = Buffer.byteLength(value)
    if (bytes === 0) return []
    const least = LEAST_SECRET_BYTES
    return [
      ...(bytes < least
        ? [`${name} has ${bytes} bytes, it should have ${least} or more random ones`]
        : []),
      ...(value.trim() === value
        ? []
        : [`${name} begins or ends with white space, which is part of the key`]),
    ]
  })
}
