/**
 * `hivegate/issuer`: mints and delivers tokens. The broker mounts `openIssuer`; other apps use the subscriber-token
 * pieces (ADR-056) beside their own authorization.
 */
export {
  ISSUER_CORS_HEADERS,
  ISSUER_CORS_PREFIXES,
  ISSUER_OPERATIONS,
  type Issuer,
  type IssuerOptions,
  openIssuer,
} from './issuer.ts'
export { type MintedToken, type MinterOptions, mintPathToken } from './minter.ts'
export { KeyRegistry, type RegistryOptions } from './registry.ts'
export { PUBLIC_KEYS_PATH } from './routes/keys.ts'
export { MINT_PATH } from './routes/mint.ts'
export type {
  Ability,
  AbilityGrant,
  DeviceRow,
  DeviceSecret,
  HerdRow,
  IssuerStore,
  KeyRow,
  UserGrants,
} from './store.ts'
export { ISSUER_MOVE } from './stores/move.ts'
export { ISSUER_PG_MODULE, postgresIssuerStore } from './stores/postgres/index.ts'
export { ISSUER_SQLITE_MODULE, sqliteIssuerStore } from './stores/sqlite/index.ts'
export {
  attachSubscriberCookie,
  SUBSCRIBER_COOKIE,
  type SubscriberCookie,
  type SubscriberCookieOptions,
  type SubscriberTokenEndpointOptions,
  subscriberCookie,
  subscriberTokenEndpoint,
} from './subscriber-delivery.ts'
export {
  createSubscriberTokenIssuer,
  type SubscriberGrant,
  type SubscriberTokenIssuer,
  type SubscriberTokenIssuerOptions,
} from './subscriber-token.ts'
