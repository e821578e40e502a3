import { stringifySetCookie } from 'cookie'
import { type Request, type RequestHandler, type Response, Router } from 'express'
import { answerJson } from '../http/index.ts'
import {
  isGrantableTopic,
  SUBSCRIBER_TTL_S,
  type SubscriberTokenIssuer,
} from './subscriber-token.ts'

/** Browsers keep a cookie of this name only with `Secure` from a secure origin (hub protocol, 8.2). */
export const SUBSCRIBER_COOKIE = '__Secure-mercure_access_token'
/** The hub's own path: no other route ever sees the cookie. */
const COOKIE_PATH = '/.well-known/mercure'

/** How the body channel is mounted. */
export interface SubscriberTokenEndpointOptions {
  /** Path pattern in Express 5 syntax, such as `/trips/:id/mercure-token`. */
  readonly path: string
  /** The one topic that the token opens, from the path parameters. */
  readonly topic: (params: Request['params']) => string
  /**
   * The same check as on the object's own route; false for a missing object too. `req.params` is set, and the
   * app's authentication has run before.
   */
  readonly canView: (req: Request) => boolean | Promise<boolean>
  readonly issuer: SubscriberTokenIssuer
  /** Lifetime in seconds; default one hour. */
  readonly ttlSeconds?: number
  /** The authenticated user; asked only after `canView` said yes. */
  readonly subject: (req: Request) => string
}

/** What one cookie grants. */
export interface SubscriberCookie {
  readonly topic: string
  readonly issuer: SubscriberTokenIssuer
  /** Lifetime of token and cookie in seconds; default one hour. */
  readonly ttlSeconds?: number
  readonly subject: string
  /** The shared domain, where app and hub are on different subdomains. */
  readonly domain?: string
}

/** The middleware form of `attachSubscriberCookie`. */
export interface SubscriberCookieOptions extends Omit<SubscriberCookie, 'topic' | 'subject'> {
  readonly topic: (req: Request) => string
  readonly subject: (req: Request) => string
}

const lifetime = (ttlSeconds: number | undefined) => ttlSeconds ?? SUBSCRIBER_TTL_S

/**
 * The body channel: `GET` on the path answers `{"token"}` to whoever may view the object. Everyone else gets one
 * and the same 404, whether the object exists or not (ADR-056: never 403, so that existence is not revealed). So does
 * a topic that no token can open: `*`, control characters, over 4096 bytes.
 * Mount it at the root with `app.use()`, behind the app's own authentication.
 */
export function subscriberTokenEndpoint(options: SubscriberTokenEndpointOptions): Router {
  const { path, topic, canView, issuer, ttlSeconds, subject } = options
  const router = Router({ caseSensitive: true, strict: true })
  router.get(path, async (req: Request, res: Response) => {
    res.setHeader('Cache-Control', 'no-store')
    const seen = (await canView(req)) === true
    const wanted = seen ? topic(req.params) : ''
    // Also for an id that no topic can hold, which a caller who may view everything can ask for.
    if (!isGrantableTopic(wanted)) {
      answerJson(res, 404, { error: 'Not Found' })
      return
    }
    const grant = { topic: wanted, subject: subject(req), ttlSeconds: lifetime(ttlSeconds) }
    answerJson(res, 200, { token: await issuer.mint(grant) })
  })
  return router
}

/**
 * The cookie channel: sets the same grant as a cookie that only the hub receives and no script can read. Call it
 * on the responses that create or return the object, after the app's own check.
 */
export async function attachSubscriberCookie(
  res: Pick<Response, 'appendHeader'>,
  { topic, issuer, ttlSeconds, subject, domain }: SubscriberCookie,
): Promise<void> {
  const maxAge = lifetime(ttlSeconds)
  const value = await issuer.mint({ topic, subject, ttlSeconds: maxAge })
  const cookie = stringifySetCookie({
    name: SUBSCRIBER_COOKIE,
    value,
    maxAge,
    path: COOKIE_PATH,
    httpOnly: true,
    secure: true,
    sameSite: 'strict',
    ...(domain === undefined ? {} : { domain }),
  })
  res.appendHeader('Set-Cookie', cookie)
}

/** `attachSubscriberCookie` as a middleware; mount it behind the check of who may view the object. */
export function subscriberCookie(options: SubscriberCookieOptions): RequestHandler {
  const { topic, subject, ...rest } = options
  return async (req, res, next) => {
    await attachSubscriberCookie(res, { ...rest, topic: topic(req), subject: subject(req) })
    next()
  }
}
