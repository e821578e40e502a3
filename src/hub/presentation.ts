import { parseCookie } from 'cookie'
import type { HubConfig, HubRole } from '../config/index.ts'
import { MAX_TOKEN_BYTES } from '../tokens/index.ts'
import { HubAuthError } from './errors.ts'
import type { HubRequest } from './identity.ts'
import { isListedOrigin } from './listed-origin.ts'

/** A shorter text cannot be a JWS, so the header is malformed rather than the token bad (protocol, 8.1). */
const MIN_HEADER_TOKEN_CHARS = 41

/** The scheme without case, one space, then the token; RFC 6750 section 2.1. */
const BEARER = /^bearer ([^\s]+)$/i

/** A token as it was presented, and by which of the two ways. */
export interface PresentedToken {
  readonly token: string
  readonly way: 'header' | 'cookie'
}

/** What of the hub's settings decides how a token may be presented. */
export type PresentationRules = Pick<
  HubConfig,
  'allowInsecureHttp' | 'cookieName' | 'publishOrigins'
>

function badlyPresented(reason: string): HubAuthError {
  return new HubAuthError('token_badly_presented', reason)
}

function fromHeader(values: readonly string[]): PresentedToken {
  // Neither the first nor the last of several is picked: somebody may have added the other one.
  if (values.length > 1) throw badlyPresented('the Authorization header is repeated')
  const token = BEARER.exec(values[0] ?? '')?.[1]
  if (token === undefined) throw badlyPresented('the Authorization header is no Bearer token')
  if (token.length < MIN_HEADER_TOKEN_CHARS) throw badlyPresented('the token is too short')
  return { token, way: 'header' }
}

function cookieToken({ headers }: HubRequest, name: string): string | undefined {
  const cookies = headers['cookie']?.join('; ')
  if (cookies === undefined) return undefined
  // A token needs no decoding, and a value that would not decode is garbage like any other.
  return parseCookie(cookies, { decode: (value) => value })[name]
}

/** The origin of a request: its `Origin` field, else scheme and authority of `Referer`. */
function originOf({ headers }: HubRequest): string | undefined {
  const { origin, referer } = headers
  if (origin !== undefined) return origin.length === 1 ? origin[0] : undefined
  const url = referer?.length === 1 ? URL.parse(referer[0] ?? '') : null
  return url === null || url.host === '' ? undefined : `${url.protocol}//${url.host}`
}

/**
 * Browsers send the cookie along with requests that other sites make, so publishing with it takes a listed origin.
 * The token is not looked at before.
 */
function checkPublishOrigin(request: HubRequest, origins: readonly string[]): void {
  const origin = originOf(request)
  if (origin === undefined || origin === '') {
    throw badlyPresented('publishing with the cookie needs a usable Origin or Referer')
  }
  if (!isListedOrigin(origin, origins)) throw badlyPresented('the origin may not publish')
}

/**
 * Takes the token off a request; `undefined` when there is none. The `Authorization` header decides alone, good or
 * bad. Tokens in the URL or the body are never looked at (RFC 9700 section 4.3.2).
 * @throws HubAuthError 400 `invalid_request`
 */
export function presentedToken(
  request: HubRequest,
  role: HubRole,
  rules: PresentationRules,
): PresentedToken | undefined {
  const header = request.headers['authorization']
  const cookie = header === undefined ? cookieToken(request, rules.cookieName) : undefined
  if (header === undefined && cookie === undefined) return undefined
  if (request.scheme === 'http' && !rules.allowInsecureHttp) {
    throw badlyPresented('a credential came over plain HTTP')
  }
  if (cookie !== undefined && role === 'publisher')
    checkPublishOrigin(request, rules.publishOrigins)
  const presented: PresentedToken =
    header === undefined ? { token: cookie ?? '', way: 'cookie' } : fromHeader(header)
  if (presented.token.length > MAX_TOKEN_BYTES) throw badlyPresented('the token is too long')
  return presented
}
