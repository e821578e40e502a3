import type { HubConfig, HubVerifier } from '../../../src/config/index.ts'

/** The set-up of the protocol's checklist. */
export const ISSUER = 'https://shop.example'
export const HUB_ID = 'https://hub.shop.example/.well-known/mercure'
export const PUBLISHER_KEY = 'publisher-fixture-0123456789abcdef'
export const SUBSCRIBER_KEY = 'subscriber-fixture-0123456789abcde'

/** An HS256 verifier over a raw secret. */
export function secretVerifier(secret: string): HubVerifier {
  return { kind: 'secret', secret, algorithm: 'HS256' }
}

/** The one issuer of most tests, with a key of its own for each role. */
export const SHOP = {
  issuer: ISSUER,
  authorizationServer: false,
  publisher: secretVerifier(PUBLISHER_KEY),
  subscriber: secretVerifier(SUBSCRIBER_KEY),
}

/**
 * Hub settings: one issuer with two keys, a pinned identifier, plain HTTP allowed, all stream timers off.
 * `settings` replaces what a test is about.
 */
export function hubConfig(settings: Partial<HubConfig> = {}): HubConfig {
  return {
    enabled: true,
    issuers: [SHOP],
    resourceIdentifier: HUB_ID,
    matcherBaseUrl: HUB_ID,
    publicUrls: [],
    allowInsecureHttp: true,
    anonymous: false,
    subscriptions: false,
    publishOrigins: [],
    corsOrigins: [],
    cookieName: '__Secure-mercure_access_token',
    heartbeatMs: 0,
    writeTimeoutMs: 0,
    dispatchTimeoutMs: 0,
    maxRequestBodyBytes: 1_048_576,
    transport: 'persistent',
    historySize: 0,
    cleanupFrequency: 0.3,
    topicMatcherCache: 100_000,
    subscriberListCacheSize: 100_000,
    debugger: false,
    dev: false,
    warnings: [],
    ...settings,
  }
}
