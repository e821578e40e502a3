import type { ErrorRequestHandler, RequestHandler } from 'express'
import type { Logger } from 'pino'
import { answerJson } from './answer.ts'
import { HttpError } from './errors.ts'

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
 * - an `HttpError` has its status and text;
 * - a path parameter that cannot be percent-decoded (the router's own 400) is the client's mistake;
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
    const known = error instanceof URIError ? new HttpError('malformed_path') : error
    if (known instanceof HttpError) {
      answerJson(res, known.status, { error: known.message, ...known.extra })
      return
    }
    log.error({ err: error, reqId: req.id }, 'request failed')
    answerJson(res, 500, { error: 'Internal server error' })
  }
}
