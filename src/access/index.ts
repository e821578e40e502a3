export { isPermittedText } from './characters.ts'
export { type Action, type Detail, type Grants, grantsOf, NO_GRANTS } from './grants.ts'
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
