/**
 * `hivegate/auth`: the auth middleware for any Express app.
 * `app.use(brokerAuth(loadAuthConfig()))`; see docs/auth.md.
 */
export { type Level, type Role, RouteTableError, type RouteTableInput } from './access/index.ts'
export { type AuthConfig, ConfigError, loadAuthConfig } from './config/index.ts'
export {
  authBootWarnings,
  type BrokerAuth,
  type BrokerAuthOptions,
  brokerAuth,
  type DecisionRecord,
  type Identity,
} from './http/index.ts'
