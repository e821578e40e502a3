export {
  type AuthenticatorOptions,
  createHubAuthenticator,
  type TokenDialect,
} from './authenticator.ts'
export { type ChallengeCode, challengeOf, HubAuthError, HubRequestError } from './errors.ts'
export type {
  Anonymous,
  HubAuthenticator,
  HubIdentity,
  HubRequest,
  TokenBearer,
} from './identity.ts'
export { isListedOrigin } from './listed-origin.ts'
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
