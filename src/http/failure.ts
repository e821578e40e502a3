import type { ErrorRequestHandler, RequestHandler } from 'express'
import type { Logger } from 'pino'
import { answerJson } from './answer.ts'
import { faceOf, HttpError } from './errors.ts'

/** Answers what no route took. Queue API page, section 1.3. */
export const noSuchRoute: RequestHandler = (_req, _res, next) => {
  next(new HttpError('no_such_route'))
}

/** Answers a method that a path never takes (HEAD on a pop would lease messages and drop them). */
export function methodNotAllowed(allow: string): RequestHandler {
  return (_req, res, next) => {
    res.setHeader('Allow', allow)
    next(new HttpError('method_not_allowed'))
  }
}

/** Answers a route that is in the table and not yet served. */
export const notImplemented: RequestHandler = (_req, _res, next) => {
  next(new HttpError('not_implemented'))
}

/**
 * The one place where an error becomes an answer:
 * - one with a face has its status and text (see `faceOf`);
 * - anything else is ours: a 500 with a constant text, and the error in the log, never in the answer;
 * - once headers are out nothing can be said any more, so the connection is cut.
 */
export function answerErrors(log: Logger): ErrorRequestHandler {
  return (error: unknown, req, res, _next) => {
    if (res.headersSent) {
      log.error({ err: error, reqId: req.id }, 'failed after the answer had begun')
      req.socket.destroy()
      return
    }
    const face = faceOf(error)
    if (face === undefined) log.error({ err: error, reqId: req.id }, 'request failed')
    if (face?.retryAfterS !== undefined) res.setHeader('Retry-After', face.retryAfterS)
    answerJson(res, face?.status ?? 500, face?.body ?? { error: 'Internal server error' })
  }
}
