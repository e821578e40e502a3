import { request as httpRequest, type IncomingMessage } from 'node:http'
import { request as httpsRequest } from 'node:https'

/** Why a fetch gave nothing; the log names it, a client never sees it. */
export type FetchErrorCode =
  | 'timeout'
  | 'unreachable'
  | 'tls'
  | 'redirect'
  | 'status'
  | 'too_large'
  | 'malformed'
  | 'aborted'

/** A document that could not be fetched; `message` says why in words, `cause` keeps the network error. */
export class FetchError extends Error {
  readonly code: FetchErrorCode
  /** What the server answered, for the codes `status` and `redirect`. */
  readonly status: number | undefined
  constructor(
    code: FetchErrorCode,
    message: string,
    options: ErrorOptions & { readonly status?: number } = {},
  ) {
    super(message, options)
    this.name = 'FetchError'
    this.code = code
    this.status = options.status
  }
}

/** Limits of one fetch. */
export interface FetchLimits {
  /** For connect, headers and body together. */
  readonly timeoutMs: number
  /** Read while streaming: a longer body is cut, not stored. */
  readonly maxBytes: number
  readonly signal?: AbortSignal
}

/** Some servers answer 406 unless the key set's own type is asked for (RFC 7517 §8.5.2). */
const ACCEPT = 'application/jwk-set+json, application/jwk+json, application/json'

const TLS_CODES =
  /^(ERR_(TLS|SSL)_|CERT_|UNABLE_TO_|DEPTH_ZERO_|SELF_SIGNED_|HOSTNAME_MISMATCH|EPROTO$)/

function networkError(error: Error): FetchError {
  if (error instanceof FetchError) return error
  const code = 'code' in error && typeof error.code === 'string' ? error.code : error.name
  const kind = TLS_CODES.test(code) ? 'tls' : 'unreachable'
  // An AggregateError (several addresses tried) has an empty message.
  return new FetchError(kind, `${code}: ${error.message || 'no address answered'}`, {
    cause: error,
  })
}

/** Refuses what is no plain 200; a redirect is never followed, it could lead to a host nobody configured. */
function statusError(response: IncomingMessage): FetchError | undefined {
  const status = response.statusCode ?? 0
  if (status === 200) return undefined
  if (status >= 300 && status < 400) {
    return new FetchError('redirect', `the server answered ${status}; redirects are refused`, {
      status,
    })
  }
  return new FetchError('status', `the server answered ${status}`, { status })
}

async function readBody(response: IncomingMessage, maxBytes: number): Promise<string> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of response) {
    // Without an encoding set, a response yields Buffers.
    const bytes = chunk as Buffer
    size += bytes.length
    if (size > maxBytes) throw new FetchError('too_large', `the body is over ${maxBytes} bytes`)
    chunks.push(bytes)
  }
  return Buffer.concat(chunks).toString('utf8')
}

function open(url: URL, signal: AbortSignal): Promise<IncomingMessage> {
  const send = url.protocol === 'https:' ? httpsRequest : httpRequest
  return new Promise((resolve, reject) => {
    // One connection for each fetch: an idle one may be half dead an hour later.
    const headers = { accept: ACCEPT, connection: 'close' }
    const request = send(url, { method: 'GET', headers, signal }, resolve)
    request.once('error', reject)
    request.end()
  })
}

/**
 * Fetches one JSON document with a plain GET: no redirects, no compression, a size cap while streaming. HTTPS chains
 * are verified against Node's roots and `NODE_EXTRA_CA_CERTS`.
 * @throws FetchError with the reason
 */
export async function fetchJson(url: string, limits: FetchLimits): Promise<unknown> {
  const stop = new AbortController()
  const { signal, timeoutMs, maxBytes } = limits
  const expire = (): void =>
    stop.abort(new FetchError('timeout', `no complete answer within ${timeoutMs} ms`))
  const cancel = (): void => stop.abort(new FetchError('aborted', 'the fetch was called off'))
  const timer = setTimeout(expire, timeoutMs).unref()
  if (signal?.aborted) cancel()
  signal?.addEventListener('abort', cancel, { once: true })
  let response: IncomingMessage | undefined
  try {
    response = await open(new URL(url), stop.signal)
    const refused = statusError(response)
    if (refused !== undefined) throw refused
    return parse(await readBody(response, maxBytes))
  } catch (error) {
    const reason: unknown = stop.signal.aborted ? stop.signal.reason : error
    throw reason instanceof Error ? networkError(reason) : reason
  } finally {
    clearTimeout(timer)
    signal?.removeEventListener('abort', cancel)
    response?.destroy()
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new FetchError('malformed', 'the body is not JSON')
  }
}
