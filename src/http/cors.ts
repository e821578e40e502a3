import type { RequestHandler } from 'express'

/** Queue API page, section 1.5: any origin may call, because the broker takes no cookies. */
const PREFLIGHT = {
  'Access-Control-Allow-Methods': 'GET, POST, PUT, DELETE, OPTIONS',
  'Access-Control-Max-Age': '86400',
}
const ALLOWED_HEADERS: readonly string[] = ['Content-Type', 'Authorization']
const NONE: readonly string[] = []

/**
 * Answers `OPTIONS` on every path with 204 before any token is looked at (a browser sends a preflight without
 * one), and marks every other reply as readable from any origin, refusals included. Paths for which `exempt`
 * holds have rules of their own and pass untouched; `moreHeaders` names request headers that are allowed on a path
 * beyond those of every path.
 */
export function cors(
  exempt: (path: string) => boolean = () => false,
  moreHeaders: (path: string) => readonly string[] = () => NONE,
): RequestHandler {
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
    const allowed = [...ALLOWED_HEADERS, ...moreHeaders(req.path)].join(', ')
    res.writeHead(204, { ...PREFLIGHT, 'Access-Control-Allow-Headers': allowed })
    res.end()
  }
}
