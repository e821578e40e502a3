import type { RequestHandler } from 'express'

/** Queue API page, section 1.5: any origin may call, because the broker takes no cookies. */
const PREFLIGHT = {
  'Access-Control-Allow-Methods': 'GET, POST, PUT, DELETE, OPTIONS',
  'Access-Control-Allow-Headers': 'Content-Type, Authorization',
  'Access-Control-Max-Age': '86400',
}

/**
 * Answers `OPTIONS` on every path with 204 before any token is looked at (a browser sends a preflight without
 * one), and marks every other reply as readable from any origin, refusals included. Paths for which `exempt`
 * holds have rules of their own and pass untouched.
 */
export function cors(exempt: (path: string) => boolean = () => false): RequestHandler {
  return (req, res, next) => {
    if (exempt(req.path)) {
      next()
      return
    }
    res.setHeader('Access-Control-Allow-Origin', '*')
    if (req.method !== 'OPTIONS') {
      next()
      return
    }
    res.writeHead(204, PREFLIGHT)
    res.end()
  }
}
