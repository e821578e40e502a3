import { flag, httpUrl, integer, list, oneOf, text } from './kinds.ts'
import { type Environment, readSection, type Settings, secret, variable } from './variable.ts'

/** The values of `JWT_ALGORITHM`; each names a set of token algorithms. Seed: "Algorithms and auto-detection". */
export const JWT_ALGORITHM_SETTINGS = [
  'auto',
  'HS256',
  'HS384',
  'HS512',
  'RS256',
  'RS384',
  'RS512',
  'EdDSA',
] as const

const DAY_S = 86_400
/** setInterval takes at most 2^31-1 ms. */
const MAX_REFRESH_S = 2_147_483

/** `JWT_*`: the broker's token check. Names and defaults are those of the seed "Broker authentication". */
export const JWT_VARIABLES = {
  enabled: variable('JWT_ENABLED', flag, false, 'Turns token checking on'),
  algorithm: variable(
    'JWT_ALGORITHM',
    oneOf(JWT_ALGORITHM_SETTINGS),
    'HS256',
    'Which token algorithms are accepted; RS256 also takes RS384 and RS512, auto takes all seven',
  ),
  secret: secret('JWT_SECRET', text, '', 'HS256/384/512 key, used as raw bytes'),
  publicKey: secret(
    'JWT_PUBLIC_KEY',
    text,
    '',
    'RSA or Ed25519 public key as PEM; wins over the key set. Line breaks may be written as \\n',
  ),
  jwksUrl: variable('JWT_JWKS_URL', httpUrl, '', 'Where the JWK set is fetched; no redirects'),
  jwksRefreshIntervalS: variable(
    'JWT_JWKS_REFRESH_INTERVAL',
    integer(1, MAX_REFRESH_S),
    3600,
    'Seconds between background refreshes of the key set',
  ),
  jwksTimeoutMs: variable(
    'JWT_JWKS_TIMEOUT_MS',
    integer(1, 600_000),
    5000,
    'Time limit of one key set fetch in ms: connect, headers and body together',
  ),
  issuer: variable(
    'JWT_ISSUER',
    text,
    '',
    'Required iss claim, compared exactly; empty: not checked',
  ),
  audience: variable('JWT_AUDIENCE', text, '', 'Required member of aud; empty: not checked'),
  clockSkewS: variable(
    'JWT_CLOCK_SKEW',
    integer(0, DAY_S),
    30,
    'Tolerance in seconds for exp, nbf and iat',
  ),
  skipPaths: variable(
    'JWT_SKIP_PATHS',
    list,
    Object.freeze(['/health', '/metrics/prometheus', '/metrics', '/']),
    'Paths that need no token, whatever their level; an entry ending in / covers what is below it',
  ),
  rolesClaim: variable(
    'JWT_ROLES_CLAIM',
    text,
    'role',
    'Claim that holds one role, a top-level key',
  ),
  rolesArrayClaim: variable(
    'JWT_ROLES_ARRAY_CLAIM',
    text,
    'roles',
    'Claim that holds an array of roles, a top-level key',
  ),
  roleAdmin: variable('JWT_ROLE_ADMIN', text, 'admin', 'The value that means admin'),
  roleReadWrite: variable(
    'JWT_ROLE_READ_WRITE',
    text,
    'read-write',
    'The value that means read-write',
  ),
  roleReadOnly: variable('JWT_ROLE_READ_ONLY', text, 'read-only', 'The value that means read-only'),
  roleWriteOnly: variable(
    'JWT_ROLE_WRITE_ONLY',
    text,
    'write-only',
    'The value that means write-only',
  ),
} as const

/** The settings of the auth middleware; frozen. Durations carry their unit in the name. */
export type AuthConfig = Settings<typeof JWT_VARIABLES>

/**
 * The fatal list of the seed "Boot-time validation is fatal": an algorithm whose key material is missing.
 * Everything else (a wrong secret, an unreachable key set) starts and fails per request.
 */
function checkKeyMaterial(auth: AuthConfig, problems: string[]): void {
  if (!auth.enabled) return
  const asymmetric = auth.publicKey !== '' || auth.jwksUrl !== ''
  const symmetricAllowed = auth.algorithm === 'auto' || auth.algorithm.startsWith('HS')
  if (asymmetric || (symmetricAllowed && auth.secret !== '')) return
  const wanted = symmetricAllowed
    ? 'JWT_SECRET, JWT_PUBLIC_KEY or JWT_JWKS_URL'
    : 'JWT_PUBLIC_KEY or JWT_JWKS_URL'
  problems.push(
    `JWT_ALGORITHM: got ${JSON.stringify(auth.algorithm)} without key material, expected ${wanted} to be set`,
  )
}

/**
 * Reads the `JWT_*` variables; adds one line to `problems` for each fault. With auth off an unknown algorithm is
 * none, because nothing will use it (queue API §17.7: "only when enabled").
 */
export function readAuth(env: Environment, problems: string[]): AuthConfig {
  const found: string[] = []
  const auth = readSection(env, JWT_VARIABLES, found)
  const isAbout = (row: { name: string }) => (line: string) => line.startsWith(`${row.name}:`)
  const wrongAlgorithm = found.some(isAbout(JWT_VARIABLES.algorithm))
  if (!wrongAlgorithm) checkKeyMaterial(auth, found)
  const off = !auth.enabled && !found.some(isAbout(JWT_VARIABLES.enabled))
  const ignored = isAbout(JWT_VARIABLES.algorithm)
  problems.push(...(off ? found.filter((line) => !ignored(line)) : found))
  return auth
}

/**
 * The settings that a minted role token has to agree with: claim names, role values, issuer, audience, secret. Key
 * material may be missing and auth may be off, because who mints is not who verifies.
 */
export function loadMintDefaults(env: Environment = process.env): AuthConfig {
  return readSection({ ...env, [JWT_VARIABLES.enabled.name]: 'false' }, JWT_VARIABLES, [])
}
