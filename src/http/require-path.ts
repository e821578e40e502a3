import type { Request, RequestHandler } from 'express'
import type { PathAction, PrefixClaims } from '../access/index.ts'
import { TokenError } from '../tokens/index.ts'
import { answerJson } from './answer.ts'

/** Verifies path-prefix tokens and judges paths; see `createPubsubVerifier`. */
export interface PathVerifier {
  /** @throws TokenError for a token that is not good, for whatever reason */
  verify(token: string): Promise<PrefixClaims>
  /** Whether the claims open a path; a path that is refused rather than normalised is not opened. */
  allows(claims: PrefixClaims, action: PathAction, path: string): boolean
}

declare module 'express-serve-static-core' {
  interface Request {
    /** The verified claims of a path-prefix token, set by `requirePath`. */
    pubsub?: PrefixClaims
  }
}

/** Reads the token of `Authorization: Bearer`; undefined when there is none, `''` for a malformed header. */
function bearerToken(req: Request): string | undefined {
  const [value, ...others] = req.headersDistinct['authorization'] ?? []
  if (value === undefined || value.trim() === '') return undefined
  // Two headers: whoever stands in front of us may have looked at the other one.
  if (others.length > 0) return ''
  return /^Bearer[ \t]+(\S+)[ \t]*$/i.exec(value)?.[1] ?? ''
}

async function claimsOf(verifier: PathVerifier, token: string): Promise<PrefixClaims | undefined> {
  try {
    return await verifier.verify(token)
  } catch (error) {
    if (error instanceof TokenError) return undefined
    throw error
  }
}

/**
 * Lets a request pass whose path-prefix token opens a path for the action, and sets `req.pubsub`. Without
 * credential 401 with a bare challenge, with a bad one 401 `invalid_token`, with a good one that does not open
 * the path 403 `insufficient_scope` (RFC 6750 §3.1). The token is read from `Authorization: Bearer` only.
 * @param pathOf the path to judge, percent-encoded as in a URL: judge the very string that is used afterwards
 */
export function requirePath(
  action: PathAction,
  pathOf: (req: Request) => string,
  { verifier }: { readonly verifier: PathVerifier },
): RequestHandler {
  return async (req, res, next) => {
    const token = bearerToken(req)
    if (token === undefined) {
      res.setHeader('WWW-Authenticate', 'Bearer')
      answerJson(res, 401, { error: 'Authentication required' })
      return
    }
    const claims = await claimsOf(verifier, token)
    if (claims === undefined) {
      res.setHeader('WWW-Authenticate', 'Bearer error="invalid_token"')
      answerJson(res, 401, { error: 'Invalid token' })
      return
    }
    if (!verifier.allows(claims, action, pathOf(req))) {
      res.setHeader('WWW-Authenticate', 'Bearer error="insufficient_scope"')
      answerJson(res, 403, { error: 'Insufficient permissions' })
      return
    }
    req.pubsub = claims
    next()
  }
}
