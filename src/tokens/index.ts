export {
  ALGORITHMS,
  type Algorithm,
  type AlgorithmFamily,
  type AlgorithmName,
} from './algorithms.ts'
export { VerifiedTokenCache } from './cache.ts'
export {
  checkAudience,
  checkIssuer,
  checkTimes,
  quoted,
  readTimes,
  subjectOf,
  type TimeRule,
  type TokenTimes,
} from './claims.ts'
export {
  type Claims,
  claim,
  claimsOf,
  type DecodedToken,
  decodeToken,
  isJsonObject,
  MAX_TOKEN_BYTES,
  type TokenHeader,
} from './decode.ts'
export { TokenError, type TokenErrorCode } from './errors.ts'
export { deepFreeze } from './freeze.ts'
export { type MintOptions, mintToken } from './mint.ts'
export { allowedAlgorithm, keyRequest, verifySignature } from './verify.ts'
