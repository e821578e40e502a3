export {
  DetailsError,
  type DetailsFault,
  MAX_DETAILS,
  MAX_GRANTED_TOPICS,
  MERCURE_DETAIL_TYPE,
  readAuthorizationDetails,
} from './authorization-details.ts'
export { isPermittedText } from './characters.ts'
export { type Classification, classify, levelsOf, readingsOf } from './classify.ts'
export { type Action, type Detail, type Grants, grantsBy, grantsOf, NO_GRANTS } from './grants.ts'
export {
  LEVELS,
  type Level,
  levelsOpenTo,
  ROLES,
  type Role,
  type RoleMapping,
  rolesFor,
  rolesHeld,
  satisfies,
} from './levels.ts'
export {
  type CompiledMatcher,
  compileMatcher,
  isMatcherType,
  MATCHER_TYPES,
  MAX_PATTERN_BYTES,
  type Matcher,
  MatcherError,
  type MatcherFault,
  type MatcherType,
  WILDCARD,
} from './matchers.ts'
export { isNormalPath, isRulePath, normalPath, pathOf } from './paths.ts'
export { segmentsOf } from './paths-prefix.ts'
export {
  allowsPath,
  type PathAction,
  type PrefixClaims,
  readPrefixClaims,
} from './paths-prefix-claims.ts'
export { grantsOfPrefixes } from './paths-prefix-grants.ts'
export {
  type PrefixTokenRules,
  type VerifiedPrefixToken,
  verifyPrefixToken,
} from './paths-prefix-token.ts'
export { checkRoutes, checkRows, type RegisteredRoute } from './route-check.ts'
export {
  brokerRouteTable,
  loadRouteTable,
  type RouteRow,
  type RouteRule,
  type RouteTable,
  RouteTableError,
  type RouteTableInput,
} from './route-table.ts'
export { type GrantedTopics, type SelfIssued, selfIssuedClaims } from './self-issued.ts'
export {
  createTopicMatchers,
  MatchCache,
  SharedCacheError,
  type TopicMatchers,
} from './topic-matchers.ts'
export { finish, stepsOf, type Walk, walkMatch } from './walk.ts'
