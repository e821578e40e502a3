import { TokenError } from './errors.ts'
import { deepFreeze } from './freeze.ts'

/** A longer token is refused before anything is decoded (design: "Sizes"). Tokens are ASCII: characters are bytes. */
export const MAX_TOKEN_BYTES = 32_768

/** The header of a token that can be verified; more members may follow, of any JSON type. */
export interface TokenHeader {
  readonly alg: string
  readonly kid?: string
  readonly [name: string]: unknown
}

/** The claims of a token: a JSON object. */
export type Claims = Readonly<Record<string, unknown>>

/** A token taken apart and not yet verified: nothing in it may be trusted. */
export interface DecodedToken {
  /** The token as sent. */
  readonly compact: string
  readonly header: TokenHeader
  /** Any JSON value; see {@link claimsOf}. */
  readonly payload: unknown
}

const BASE64URL = /^[A-Za-z0-9_-]+$/
/** The last character of a part, by the length of the part modulo 4: what would leave stray bits is not listed. */
const CANONICAL_END = [/[A-Za-z0-9_-]$/, /(?!)/, /[AQgw]$/, /[AEIMQUYcgkosw048]$/] as const
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

function malformed(why: string): TokenError {
  return new TokenError('token_malformed', why)
}

/** Accepts base64url in its one canonical spelling only (RFC 4648 §3.5): else one token would have many. */
function checkPart(part: string, name: string): void {
  const end = CANONICAL_END[part.length % 4]
  if (!BASE64URL.test(part) || !end?.test(part)) throw malformed(`the ${name} is not base64url`)
}

function decodeJson(part: string, name: string): unknown {
  checkPart(part, name)
  try {
    return JSON.parse(utf8.decode(Buffer.from(part, 'base64url')))
  } catch {
    throw malformed(`the ${name} is not JSON in UTF-8`)
  }
}

/** Whether a value is a JSON object. */
export function isJsonObject(value: unknown): value is Claims {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/**
 * Header members that ask for what is not done here: extensions that must be understood (RFC 7515 §4.1.11, in any
 * form), an unencoded payload (RFC 7797), encryption (RFC 7516).
 */
function checkHeader(header: unknown): TokenHeader {
  if (!isJsonObject(header)) throw malformed('the header is not a JSON object')
  if (Object.hasOwn(header, 'crit')) throw malformed('crit is not supported')
  if (Object.hasOwn(header, 'b64') && header['b64'] !== true)
    throw malformed('b64 is not supported')
  if (Object.hasOwn(header, 'enc')) throw malformed('encrypted tokens are not supported')
  const alg = Object.hasOwn(header, 'alg') ? header['alg'] : undefined
  const kid = Object.hasOwn(header, 'kid') ? header['kid'] : undefined
  if (typeof alg !== 'string') throw malformed('alg is not a string')
  if (kid !== undefined && typeof kid !== 'string') throw malformed('kid is not a string')
  // Both members were checked just now.
  return deepFreeze(header) as TokenHeader
}

/** An issuer signs all its tokens under a few headers, so the last ones are kept; they are public and small. */
const KEPT_HEADERS = 64
const MAX_KEPT_CHARS = 512
const headers = new Map<string, TokenHeader>()

function decodeHeader(part: string): TokenHeader {
  const known = headers.get(part)
  if (known !== undefined) return known
  const header = checkHeader(decodeJson(part, 'header'))
  if (part.length <= MAX_KEPT_CHARS) {
    if (headers.size >= KEPT_HEADERS) headers.clear()
    headers.set(part, header)
  }
  return header
}

/**
 * Takes a compact token apart: three parts, header and payload JSON, an `alg`. The payload may be any JSON value,
 * because whether it is an object is judged after the signature. An empty signature passes: `alg` is judged first.
 * @throws TokenError (`token_malformed`)
 */
export function decodeToken(compact: string): DecodedToken {
  if (compact.length > MAX_TOKEN_BYTES) throw malformed('the token is too long')
  const parts = compact.split('.', 4)
  const [header, payload, signature] = parts
  if (parts.length !== 3 || !header || !payload || signature === undefined) {
    throw malformed('a token has three parts')
  }
  const decodedHeader = decodeHeader(header)
  if (signature !== '') checkPart(signature, 'signature')
  return { compact, header: decodedHeader, payload: decodeJson(payload, 'payload') }
}

/**
 * The claims of a token whose signature was verified.
 * @throws TokenError (`claims_invalid`) for a payload that is not a JSON object
 */
export function claimsOf(token: DecodedToken): Claims {
  if (!isJsonObject(token.payload)) {
    throw new TokenError('claims_invalid', 'the payload is not a JSON object')
  }
  return token.payload
}

/** One claim by its literal name; a name such as `constructor` finds nothing that the token does not hold. */
export function claim(claims: Claims, name: string): unknown {
  return Object.hasOwn(claims, name) ? claims[name] : undefined
}
