import { readFileSync } from 'node:fs'
import { z } from 'zod'
import { HUB_ALGORITHMS, type HubIssuer, type HubVerifier } from './hub-types.ts'
import { HUB_VARIABLES, type HubSettings } from './hub-variables.ts'
import { type Complain, readVerifier, type VerifierSettings } from './hub-verifier.ts'
import { isPem } from './pem-text.ts'

/** The issuer when keys are given without a name (protocol, section 20), and in development mode. */
export const DEFAULT_ISSUER = 'https://localhost'

const FILE = HUB_VARIABLES.issuersFile.name
const algorithm = z.enum(HUB_ALGORITHMS)

const verifierSchema = z.union([
  z.strictObject({ jwt_key: z.string().min(1), jwt_alg: algorithm.optional() }),
  z.strictObject({ jwks_uri: z.string().min(1), jwks_algs: z.array(algorithm).min(1).optional() }),
])

/** One entry of the issuers file. A misspelt member would silently drop a role or a restriction. */
const entrySchema = z.strictObject({
  issuer: z.string().refine((value) => value.trim() !== ''),
  authorization_server: z.boolean().optional(),
  publisher: verifierSchema.optional(),
  subscriber: verifierSchema.optional(),
})
type Entry = z.output<typeof entrySchema>

function settingsOf(verifier: z.output<typeof verifierSchema> | undefined): VerifierSettings {
  const nothing = { key: '', alg: '', jwksUri: '', jwksAlgs: [] } as const
  if (verifier === undefined) return nothing
  if ('jwt_key' in verifier) {
    return { ...nothing, key: verifier.jwt_key, alg: verifier.jwt_alg ?? '' }
  }
  return { ...nothing, jwksUri: verifier.jwks_uri, jwksAlgs: verifier.jwks_algs ?? [] }
}

function entryIssuer(entry: Entry, place: string, complain: Complain): HubIssuer {
  const read = (role: 'publisher' | 'subscriber'): HubVerifier | undefined => {
    const at = `${place}.${role}`
    const names = { key: `${at}.jwt_key`, alg: `${at}.jwt_alg`, jwksUri: `${at}.jwks_uri` }
    return readVerifier(settingsOf(entry[role]), names, complain)
  }
  if (entry.publisher === undefined && entry.subscriber === undefined) {
    complain(`${place}: expected a publisher or a subscriber verifier`)
  }
  return Object.freeze({
    issuer: entry.issuer,
    authorizationServer: entry.authorization_server ?? false,
    publisher: read('publisher'),
    subscriber: read('subscriber'),
  })
}

/** Where in the entry the first fault is; never the value, which may be a key. */
function faultOf({ issues }: z.ZodError): string {
  const [issue] = issues
  const names = issue?.code === 'unrecognized_keys' ? issue.keys : []
  const at = [...(issue?.path ?? []), ...names].map((part) => `.${String(part)}`).join('')
  return `${at}: expected {"issuer", "authorization_server"?, "publisher"?, "subscriber"?} with verifiers {"jwt_key", "jwt_alg"?} or {"jwks_uri", "jwks_algs"?}`
}

function fileEntries(path: string, complain: Complain): readonly unknown[] {
  try {
    const document: unknown = JSON.parse(readFileSync(path, 'utf8'))
    if (Array.isArray(document)) return document
    complain(`${FILE}: the file holds no JSON array`)
  } catch {
    complain(`${FILE}: ${JSON.stringify(path)} cannot be read as JSON`)
  }
  return []
}

/** The issuers of the file, in its order. */
export function readIssuersFile(path: string, complain: Complain): readonly HubIssuer[] {
  if (path === '') return []
  return fileEntries(path, complain).flatMap((value, index) => {
    const place = `${FILE}[${index}]`
    const parsed = entrySchema.safeParse(value)
    if (parsed.success) return [entryIssuer(parsed.data, place, complain)]
    complain(`${place}${faultOf(parsed.error)}`)
    return []
  })
}

/** `MERCURE_ISSUER` under either of its two names. */
function issuerName(settings: HubSettings, complain: Complain): string {
  const { issuer, trustedIssuers } = settings
  const { issuer: row, trustedIssuers: alias } = HUB_VARIABLES
  if (issuer !== '' && trustedIssuers !== '' && issuer !== trustedIssuers) {
    complain(`${alias.name}: differs from ${row.name}, of which it is another name`)
  }
  const name = issuer === '' ? trustedIssuers : issuer
  if (name !== '' && name.trim() === '') complain(`${row.name}: got only blanks`)
  return name
}

/** What the environment says of one role. */
function roleSettings(settings: HubSettings, role: 'publisher' | 'subscriber'): VerifierSettings {
  return {
    key: settings[`${role}Key`],
    alg: settings[`${role}Alg`],
    jwksUri: settings[`${role}JwksUri`],
    jwksAlgs: settings[`${role}JwksAlgs`],
  }
}

/** The variables that speak of one role. */
function roleNames(role: 'publisher' | 'subscriber') {
  return {
    key: HUB_VARIABLES[`${role}Key`].name,
    alg: HUB_VARIABLES[`${role}Alg`].name,
    jwksUri: HUB_VARIABLES[`${role}JwksUri`].name,
    jwksAlgs: HUB_VARIABLES[`${role}JwksAlgs`].name,
  }
}

/** RFC 7518 section 3.2: a key of the hash's length or more. Shorter ones work, and can be guessed. */
const LEAST_SECRET_BYTES: ReadonlyMap<string, number> = new Map([
  ['HS256', 32],
  ['HS384', 48],
  ['HS512', 64],
])

/** A secret that works but is weak, or is not what its owner means. Never repeats one. */
function doubtfulSecret(
  { key, alg }: Pick<VerifierSettings, 'key' | 'alg'>,
  name: string,
): readonly string[] {
  if (key === '' || isPem(key)) return []
  const bytes = Buffer.byteLength(key)
  const least = LEAST_SECRET_BYTES.get(alg === '' ? 'HS256' : alg) ?? 0
  return [
    ...(bytes < least
      ? [`${name} has ${bytes} bytes, it should have ${least} or more random ones`]
      : []),
    ...(key === key.trim()
      ? []
      : [`${name} begins or ends with white space, which is part of the secret`]),
  ]
}

/** The same of the secrets in the issuers file. */
export function doubtfulFileSecrets(issuers: readonly HubIssuer[]): readonly string[] {
  return issuers.flatMap(({ issuer, publisher, subscriber }) =>
    Object.entries({ publisher, subscriber }).flatMap(([role, verifier]) =>
      verifier?.kind === 'secret'
        ? doubtfulSecret(
            { key: verifier.secret, alg: verifier.algorithm },
            `${FILE}: the ${role} key of ${JSON.stringify(issuer)}`,
          )
        : [],
    ),
  )
}

/** Settings that are most likely not meant as they are written; warned about, never silently ignored. */
export function doubtfulSettings(settings: HubSettings): readonly string[] {
  return (['publisher', 'subscriber'] as const).flatMap((role) => {
    const { key, alg, jwksUri, jwksAlgs } = roleSettings(settings, role)
    const names = roleNames(role)
    return [
      ...doubtfulSecret({ key, alg }, names.key),
      ...(alg !== '' && key === '' ? [`${names.alg} has no effect without ${names.key}`] : []),
      ...(jwksAlgs.length > 0 && jwksUri === ''
        ? [`${names.jwksAlgs} has no effect without ${names.jwksUri}`]
        : []),
    ]
  })
}

/**
 * The issuer that the environment describes, or `undefined` when it names neither an issuer nor a key. In
 * development mode one without keys is kept for the development secret.
 */
export function readEnvironmentIssuer(
  settings: HubSettings,
  complain: Complain,
): HubIssuer | undefined {
  const name = issuerName(settings, complain)
  const read = (role: 'publisher' | 'subscriber'): HubVerifier | undefined =>
    readVerifier(roleSettings(settings, role), roleNames(role), complain)
  const given = [settings.publisherKey, settings.publisherJwksUri]
    .concat(settings.subscriberKey, settings.subscriberJwksUri)
    .some((value) => value !== '')
  const row = HUB_VARIABLES.issuer.name
  if (name === '' && !given) {
    if (settings.authorizationServer && !settings.dev) {
      complain(`${HUB_VARIABLES.authorizationServer.name}: needs ${row} to be set`)
    }
    return undefined
  }
  if (!given && !settings.dev) {
    const { publisherKey, subscriberKey } = HUB_VARIABLES
    complain(`${row}: expected ${publisherKey.name}, ${subscriberKey.name} or a JWK set beside it`)
  }
  return Object.freeze({
    issuer: name === '' ? DEFAULT_ISSUER : name,
    authorizationServer: settings.authorizationServer,
    publisher: read('publisher'),
    subscriber: read('subscriber'),
  })
}
