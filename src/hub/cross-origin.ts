import type { Request, Response } from 'express'
import { isListedOrigin } from './listed-origin.ts'

/** Sent with every answer on a hub route. */
const SECURITY_FIELDS = {
  'X-Content-Type-Options': 'nosniff',
  'X-Frame-Options': 'DENY',
  'X-XSS-Protection': '1; mode=block',
  'Content-Security-Policy': "default-src 'self'",
} as const

const EXPOSED = 'Link, Mercure-Last-Event-ID'

const PREFLIGHT_FIELDS = {
  'Access-Control-Allow-Methods': 'GET, HEAD, POST, QUERY',
  'Access-Control-Allow-Headers': 'authorization, cache-control, last-event-id',
} as const

/**
 * CORS for one request (protocol, section 16). Under a wildcard no credentials are allowed and the
 * origin is not repeated; under a list only a listed origin is, never an arbitrary one.
 */
function allowOrigin(req: Request, res: Response, origins: readonly string[]): boolean {
  if (origins.includes('*')) {
    res.setHeader('Access-Control-Allow-Origin', '*')
    return true
  }
  // Said even when the origin is not listed: a shared cache must not serve this answer to a listed one.
  if (origins.length > 0) res.vary('Origin')
  const origin = req.headers.origin
  if (origin === undefined || !isListedOrigin(origin, origins)) return false
  res.setHeader('Access-Control-Allow-Origin', origin)
  res.setHeader('Access-Control-Allow-Credentials', 'true')
  return true
}

/** Sets the security and CORS fields that every answer on a hub route carries, refusals included. */
export function setCommonFields(req: Request, res: Response, corsOrigins: readonly string[]): void {
  for (const [name, value] of Object.entries(SECURITY_FIELDS)) res.setHeader(name, value)
  if (!allowOrigin(req, res, corsOrigins)) return
  res.setHeader('Access-Control-Expose-Headers', EXPOSED)
  if (req.method !== 'OPTIONS') return
  for (const [name, value] of Object.entries(PREFLIGHT_FIELDS)) res.setHeader(name, value)
}
