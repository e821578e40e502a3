export { ConfigError, type HubConfig, loadHubConfig } from '../config/index.ts'
export {
  type AuthenticatorOptions,
  createHubAuthenticator,
  type TokenDialect,
} from './authenticator.ts'
export type { Clock } from './clock.ts'
export { type Discovery, discoveryLinks } from './discovery.ts'
export { type ChallengeCode, challengeOf, HubAuthError, HubRequestError } from './errors.ts'
export { explainHub, type HubQuestion, type HubVerdict } from './explain.ts'
export { createHub, type Hub, type HubHealth, type HubOptions } from './hub.ts'
export type {
  Anonymous,
  HubAuthenticator,
  HubIdentity,
  HubRequest,
  TokenBearer,
} from './identity.ts'
export { HUB_OPERATIONS } from './operations.ts'
export {
  assertPublishableId,
  assertPublishableTopic,
  assertPublishableType,
  EARLIEST,
  HUB_EVENT_TYPE,
  HUB_PATH,
  isReservedTopic,
  METADATA_PATH,
} from './reserved.ts'
export { isHubPath } from './resources.ts'
export {
  type Head,
  type HistoryPage,
  type HubStore,
  MAX_CURSOR_SEARCH_UPDATES,
  type StoredUpdate,
  type Update,
  type UpdateListener,
} from './store.ts'
export { localStore } from './stores/local.ts'
export { HUB_MOVE } from './stores/move.ts'
export {
  HUB_PG_MODULE,
  type PostgresHubStoreOptions,
  postgresHubStore,
} from './stores/postgres/store.ts'
export { HUB_MODULE, type SqliteHubStoreOptions, sqliteHubStore } from './stores/sqlite/store.ts'
