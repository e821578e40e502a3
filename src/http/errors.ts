/** What an answer of one kind of failure looks like. */
interface ErrorFace {
  readonly status: number
  /** The text of `error` when the place that raises it has nothing more exact to say. */
  readonly text: string
}

/**
 * Every failure that the HTTP floor and the routes know, with its status. Queue API page, section 1.2.
 * A 5xx makes the broker's clients repeat the request, so only `unavailable` and `not_implemented` are one.
 */
const FACES = {
  malformed_json: { status: 400, text: 'The body is not valid JSON' },
  nested_too_deep: { status: 400, text: 'The body is nested deeper than 1000 levels' },
  number_out_of_range: {
    status: 400,
    text: 'A number in the body is beyond the range of a double',
  },
  not_utf8: { status: 400, text: 'The body must be JSON in UTF-8' },
  unsupported_encoding: { status: 400, text: 'The content encoding of the body cannot be read' },
  body_incomplete: { status: 400, text: 'The body ended early' },
  malformed_path: { status: 400, text: 'The path holds a malformed percent-encoding' },
  invalid_request: { status: 400, text: 'Invalid request' },
  not_found: { status: 404, text: 'Not Found' },
  no_such_route: { status: 404, text: 'Not Found' },
  method_not_allowed: { status: 405, text: 'Method Not Allowed' },
  conflict: { status: 409, text: 'Conflict' },
  body_too_large: { status: 413, text: 'The body is too large' },
  not_implemented: { status: 501, text: 'not implemented' },
  unavailable: { status: 503, text: 'Service Unavailable' },
} as const satisfies Record<string, ErrorFace>

/** The stable name of a failure; nobody matches message text. */
export type HttpErrorCode = keyof typeof FACES

/**
 * A failure that has an answer. `message` becomes the `error` member of the body, so it must be a text of
 * our own: nothing that the client sent may be repeated in it. `extra` adds members beside `error`.
 */
export class HttpError extends Error {
  readonly code: HttpErrorCode
  readonly status: number
  readonly extra: Readonly<Record<string, unknown>>
  constructor(code: HttpErrorCode, text?: string, extra: Readonly<Record<string, unknown>> = {}) {
    super(text ?? FACES[code].text)
    this.name = 'HttpError'
    this.code = code
    this.status = FACES[code].status
    this.extra = code === 'no_such_route' ? { code, ...extra } : extra
  }
}

/** What the answer to an error is. */
export interface Face {
  readonly status: number
  readonly body: Readonly<Record<string, unknown>>
  /** Seconds for `Retry-After`. */
  readonly retryAfterS?: number
}

/** An error of another floor that knows its status; its message is a text of ours. */
interface Faced extends Error {
  readonly code: string
  readonly status: number
  readonly retryAfterS?: unknown
}

function isFaced(error: unknown): error is Faced {
  return (
    error instanceof Error &&
    'code' in error &&
    typeof error.code === 'string' &&
    'status' in error &&
    typeof error.status === 'number'
  )
}

/** Statuses whose message may be told: the client's mistakes, and "not now". The rest is ours alone. */
const TOLD = new Set([400, 404, 405, 409, 413, 501, 503])

/**
 * The answer to any error:
 * - an error with a code and a status of its own is told as it is, unless it says that we failed;
 * - a path parameter that cannot be percent-decoded (the router throws a URIError) is the client's mistake;
 * - undefined for anything else: the answer is a 500 that tells nothing.
 */
export function faceOf(error: unknown): Face | undefined {
  if (error instanceof URIError) return faceOf(new HttpError('malformed_path'))
  if (!isFaced(error) || !TOLD.has(error.status)) return undefined
  const extra = error instanceof HttpError ? error.extra : {}
  return {
    status: error.status,
    body: { error: error.message, ...extra },
    ...(typeof error.retryAfterS === 'number' && { retryAfterS: error.retryAfterS }),
  }
}
