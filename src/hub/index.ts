export { type ChallengeCode, challengeOf, HubAuthError, HubRequestError } from './errors.ts'
export type {
  Anonymous,
  HubAuthenticator,
  HubIdentity,
  HubRequest,
  TokenBearer,
} from './identity.ts'
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
