export { cleanPem, holdsPrivateKey } from '../config/index.ts'
export { FetchError, type FetchErrorCode, type FetchLimits, fetchJson } from './fetch-json.ts'
export { generateSigningJwk, type PrivateSigningJwk } from './generate.ts'
export { type KeySet, readJwk, readJwkSet } from './jwk.ts'
export { JwkDirectory, type JwkDirectoryOptions } from './jwk-directory.ts'
export { type JwksOptions, JwksSource, MAX_KEY_SET_BYTES, ON_DEMAND_INTERVAL_MS } from './jwks.ts'
export {
  fits,
  KeyError,
  type KeyErrorCode,
  type KeyKind,
  type KeyRequest,
  type KeySource,
  MIN_RSA_BITS,
  type VerificationKey,
} from './key.ts'
export { type Log, NO_LOG } from './log.ts'
export { readPublicPem } from './pem.ts'
export { readPrivateJwk, readPrivatePem, readSecret, type SigningKey } from './private.ts'
export {
  type PublicJwk,
  PublicJwkError,
  type PublicJwkFault,
  parsePublicJwk,
  publicHalf,
  verificationKeyOf,
} from './public-jwk.ts'
export { chooseKeys, type KeyChoice } from './select.ts'
export { failingSource, fixedSource, keySetSource, pemSource, secretSource } from './static.ts'
