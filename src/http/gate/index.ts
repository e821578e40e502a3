export {
  type BrokerAuth,
  type BrokerAuthOptions,
  brokerAuth,
  type DecisionRecord,
} from './broker-auth.ts'
export {
  type Decision,
  type DecisionLevel,
  Gate,
  type PassReason,
} from './decision.ts'
export type { Identity } from './identity.ts'
export { roleKeys } from './key-sources.ts'
export { REFUSALS, type RefusalFace, type RefusalReason } from './refusals.ts'
export type { Trace, TraceStep } from './trace.ts'
export { acceptedAlgorithms, TokenVerifier } from './verifier.ts'
export { authBootWarnings } from './warnings.ts'
