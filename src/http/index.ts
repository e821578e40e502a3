export { answerJson, answerJsonText, answerNothing } from './answer.ts'
export { readJson } from './body.ts'
export { cors } from './cors.ts'
export { whenOver } from './delivery.ts'
export { faceOf, HttpError, type HttpErrorCode } from './errors.ts'
export { answerErrors, methodNotAllowed, noSuchRoute, notImplemented } from './failure.ts'
export * from './gate/index.ts'
export { inOrder } from './in-order.ts'
export {
  closeSilent,
  createListener,
  type Listener,
  type ListenerLimits,
  renewCertificate,
  type TlsFiles,
} from './listener.ts'
export { createLog, type Logger } from './log.ts'
export { type DocumentInfo, openApiDocument } from './openapi.ts'
export { type Answer, type Operation, operation } from './operation.ts'
export { requestLog } from './request-log.ts'
export { type PathVerifier, requirePath } from './require-path.ts'
export { routesOf } from './routes-of.ts'
