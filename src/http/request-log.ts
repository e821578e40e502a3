import { randomBytes } from 'node:crypto'
import type { Request, RequestHandler, Response } from 'express'
import type { Logger } from 'pino'
import { pathOf } from '../access/index.ts'
import { whenOver } from './delivery.ts'

declare global {
  namespace Express {
    interface Request {
      /** Names this request in the log and in the `X-Request-Id` header of its answer. */
      id?: string
    }
  }
}

/** The beginning of a JWT (`{"` in base64url) and all that looks like the rest of one, with its dots or without. */
const TOKEN_LIKE = /eyJ[\w-]{8,}(?:(?:\.|%2[eE])[\w-]*)*/g

/** The path alone: query, fragment and user part may hold what nobody should read, and so may a misplaced token. */
function loggedPath(req: Request): string {
  const path = pathOf(req.originalUrl)
  return path.includes('eyJ') ? path.replace(TOKEN_LIKE, '[token]') : path
}

function line(req: Request, res: Response, startMs: number, done: boolean) {
  return {
    reqId: req.id,
    method: req.method,
    path: loggedPath(req),
    // An answer that was never begun has no status, whatever it would have been.
    ...(res.headersSent && { status: res.statusCode }),
    ms: Math.round((performance.now() - startMs) * 10) / 10,
    ...(done ? {} : { aborted: true }),
  }
}

/**
 * Gives each request an id of our own making and writes one line when its answer is out, or when its client
 * went away. The line holds no header and no query, so no token, cookie or secret can be in it.
 */
export function requestLog(log: Logger): RequestHandler {
  const prefix = randomBytes(6).toString('hex')
  let count = 0
  return (req, res, next) => {
    count += 1
    req.id = `${prefix}-${count.toString(36)}`
    res.setHeader('X-Request-Id', req.id)
    if (log.isLevelEnabled('error')) {
      const startMs = performance.now()
      whenOver(req, res, (delivered) => {
        const level = res.statusCode >= 500 && res.statusCode !== 501 ? 'error' : 'info'
        if (log.isLevelEnabled(level)) {
          log[level](line(req, res, startMs, delivered), 'request')
        }
      })
    }
    next()
  }
}
