import {
  DEFAULT_ISSUER,
  doubtfulFileSecrets,
  doubtfulSettings,
  readEnvironmentIssuer,
  readIssuersFile,
} from './hub-issuers.ts'
import type { HubConfig, HubIssuer, HubVerifier } from './hub-types.ts'
import { HUB_VARIABLES, type HubSettings } from './hub-variables.ts'
import type { Complain } from './hub-verifier.ts'
import { type Environment, readSection } from './variable.ts'

/** The secret of development mode and of `mercure-token --dev`: known to everyone, so it protects nothing. */
export const DEV_SECRET = '!ChangeThisMercureHubJWTSecretKey!'
/** What development mode pins, so that a token of `mercure-token --dev` works with no configuration. */
export const DEV_RESOURCE_IDENTIFIER = 'https://localhost/.well-known/mercure'
/** Last second of a development token: 1 January 2100. */
export const DEV_EXPIRY_S = 4_102_444_800

/** The key of a development token: the publisher key of the environment, else the known secret. */
export function loadDevKey(env: Environment = process.env): string {
  return env[HUB_VARIABLES.publisherKey.name] || DEV_SECRET
}

const COOKIE_NAME = '__Secure-mercure_access_token'
/** Without the prefix: browsers refuse to store a `__Secure-` cookie from an insecure origin. */
const DEV_COOKIE_NAME = 'mercure_access_token'

const HUB_PATH = '/.well-known/mercure'
/**
 * Resolves relative patterns and topics when no hub URL is pinned. Relative ones match relative ones and absolute
 * ones absolute ones; nothing real can lie under this name (RFC 2606 section 2).
 */
const PLACEHOLDER_BASE_URL = `https://mercure-hub.invalid${HUB_PATH}`

function baseUrlOf(identifier: string): string {
  const url = URL.parse(identifier)
  const isHubUrl = url?.pathname.endsWith(HUB_PATH) === true && url.search === ''
  return isHubUrl ? identifier : PLACEHOLDER_BASE_URL
}

const DEV_VERIFIER: HubVerifier = Object.freeze({
  kind: 'secret',
  secret: DEV_SECRET,
  algorithm: 'HS256',
})

function hasVerifier(issuer: HubIssuer): boolean {
  return issuer.publisher !== undefined || issuer.subscriber !== undefined
}

/** Gives the one issuer of development mode the known secret for both roles; with any key given, nothing is filled in. */
function withDevKeys(issuers: readonly HubIssuer[]): readonly HubIssuer[] {
  const [only, ...others] = issuers
  if (others.length > 0 || (only !== undefined && hasVerifier(only))) return issuers
  const issuer = only?.issuer ?? DEFAULT_ISSUER
  const authorizationServer = only?.authorizationServer ?? false
  return [
    Object.freeze({
      issuer,
      authorizationServer,
      publisher: DEV_VERIFIER,
      subscriber: DEV_VERIFIER,
    }),
  ]
}

/** The issuers of the environment and of the file, and what is doubtful about those of the file. */
function readIssuers(
  settings: HubSettings,
  complain: Complain,
): readonly [issuers: readonly HubIssuer[], doubts: readonly string[]] {
  const own = readEnvironmentIssuer(settings, complain)
  const filed = readIssuersFile(settings.issuersFile, complain)
  const all = own === undefined ? filed : [own, ...filed]
  const names = all.map(({ issuer }) => issuer)
  const twice = names.find((name, index) => names.indexOf(name) !== index)
  if (twice !== undefined) {
    const { issuer, issuersFile } = HUB_VARIABLES
    complain(
      `${issuersFile.name}: the issuer ${JSON.stringify(twice)} is there twice, or in ${issuer.name} too`,
    )
  }
  const issuers = Object.freeze(settings.dev ? withDevKeys(all) : all)
  return [issuers, doubtfulFileSecrets(filed)]
}

function warningsOf(settings: HubSettings, issuers: readonly HubIssuer[]): readonly string[] {
  const { resourceIdentifier, allowInsecureHttp, dev } = HUB_VARIABLES
  const filledIn = issuers.some(({ publisher }) => publisher === DEV_VERIFIER)
  const insecureIdentifier =
    settings.resourceIdentifier !== '' && !settings.resourceIdentifier.startsWith('https:')
  return [
    ...doubtfulSettings(settings),
    ...(insecureIdentifier ? [`${resourceIdentifier.name} does not begin with https:`] : []),
    ...(settings.allowInsecureHttp
      ? [`${allowInsecureHttp.name}: tokens are accepted over plain HTTP`]
      : []),
    ...(settings.dev ? [`${dev.name}: development mode hands out full access to everyone`] : []),
    ...(filledIn ? [`${dev.name}: both roles use the well-known development secret (HS256)`] : []),
  ]
}

/** A list that was not set, which development mode opens. */
function openedBy(dev: boolean, list: readonly string[]): readonly string[] {
  return dev && list.length === 0 ? Object.freeze(['*']) : list
}

/**
 * The hub's settings with the rules across them applied. Each fault adds one line to `problems`, which names the
 * setting.
 */
export function readHub(env: Environment, problems: string[]): HubConfig {
  const settings = readSection(env, HUB_VARIABLES, problems)
  const { dev } = settings
  const [issuers, doubts] = readIssuers(settings, (line) => problems.push(line))
  const identifier =
    settings.resourceIdentifier === '' && dev
      ? DEV_RESOURCE_IDENTIFIER
      : settings.resourceIdentifier
  return Object.freeze({
    enabled: issuers.length > 0 || settings.anonymous || dev,
    issuers,
    resourceIdentifier: identifier === '' ? undefined : identifier,
    matcherBaseUrl: baseUrlOf(identifier),
    publicUrls: settings.publicUrls,
    allowInsecureHttp: settings.allowInsecureHttp || dev,
    anonymous: settings.anonymous || dev,
    subscriptions: settings.subscriptions || dev,
    publishOrigins: openedBy(dev, settings.publishOrigins),
    corsOrigins: openedBy(dev, settings.corsOrigins),
    cookieName: settings.cookieName || (dev ? DEV_COOKIE_NAME : COOKIE_NAME),
    heartbeatMs: settings.heartbeatMs,
    writeTimeoutMs: settings.writeTimeoutMs,
    dispatchTimeoutMs: settings.dispatchTimeoutMs,
    maxRequestBodyBytes: settings.maxRequestBodyBytes,
    transport: settings.transport,
    historySize: settings.historySize,
    cleanupFrequency: settings.cleanupFrequency,
    topicMatcherCache: settings.topicMatcherCache,
    subscriberListCacheSize: settings.subscriberListCacheSize,
    debugger: settings.debugger || dev,
    dev,
    warnings: Object.freeze([...warningsOf(settings, issuers), ...doubts]),
  })
}
