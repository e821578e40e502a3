import { STATUS_CODES } from 'node:http'
import type { Request, Response } from 'express'
import { challengeOf, HubAuthError, HubRequestError } from './errors.ts'

/** Header fields of an answer. */
export type Fields = Readonly<Record<string, string>>

/** A refusal that has only its status to say: the body is the reason phrase. */
export class HubRefusal extends Error {
  readonly code = 'refused'
  readonly status: number
  readonly fields: Fields
  constructor(
    status: 404 | 405 | 413 | 415 | 421 | 500 | 503,
    fields: Fields = {},
    options?: ErrorOptions,
  ) {
    super(STATUS_CODES[status], options)
    this.name = 'HubRefusal'
    this.status = status
    this.fields = fields
  }
}

/**
 * Text for a header field. Node writes header text as Latin-1, so anything beyond it goes out as the
 * Latin-1 reading of its UTF-8 bytes, which is what is on the wire in the end.
 */
export function headerText(text: string): string {
  return Buffer.from(text, 'utf8').toString('latin1')
}

/** Answers with a whole body; a HEAD request gets the same fields without it. */
export function answer(
  req: Request,
  res: Response,
  status: number,
  fields: Fields,
  body = '',
): void {
  const bytes = Buffer.from(body)
  // RFC 9110 section 8.6: a 204 has no length, and that of a 304 would be the length of the 200.
  const sized = status === 204 || status === 304 ? {} : { 'Content-Length': String(bytes.length) }
  res.writeHead(status, { ...fields, ...sized })
  res.end(req.method === 'HEAD' || bytes.length === 0 ? undefined : bytes)
}

/** Answers in plain text. */
export function answerText(
  req: Request,
  res: Response,
  status: number,
  text: string,
  fields: Fields = {},
): void {
  answer(req, res, status, { ...fields, 'Content-Type': 'text/plain; charset=utf-8' }, text)
}

/** An error as status, fields and text; undefined for one that is no refusal but a fault of ours. */
interface Face {
  readonly status: number
  readonly fields: Fields
  readonly text: string
}

function faceOf(error: unknown, metadataUrl: string | undefined): Face | undefined {
  if (error instanceof HubAuthError) {
    const fields = { 'WWW-Authenticate': challengeOf(error, metadataUrl) }
    return { status: error.status, fields, text: STATUS_CODES[error.status] ?? '' }
  }
  if (error instanceof HubRequestError) {
    const text = error.status === 413 ? (STATUS_CODES[413] ?? '') : error.message
    return { status: error.status, fields: {}, text }
  }
  if (error instanceof HubRefusal) {
    return { status: error.status, fields: error.fields, text: error.message }
  }
  // The router's own 400: a path variable that cannot be percent-decoded.
  if (error instanceof URIError) return { status: 400, fields: {}, text: 'malformed path' }
  return undefined
}

/** Hears of what the operator should know; texts for clients never hold more than a reason phrase. */
export interface RefusalLog {
  refusedToken(req: Request, error: HubAuthError): void
  failed(req: Request, error: unknown): void
}

/**
 * The one place where an error of the hub becomes an answer:
 * - a token or its presentation refused: RFC 6750 status and challenge, the reason only in the log;
 * - a malformed request: 400 with a short text of ours that names the field, or 413;
 * - a refusal by status: its reason phrase, with `Allow` for a 405;
 * - anything else is a fault of ours: 500 with the reason phrase, the error in the log.
 */
export function answerError(
  req: Request,
  res: Response,
  error: unknown,
  options: { readonly metadataUrl: string | undefined; readonly log: RefusalLog },
): void {
  if (error instanceof HubAuthError) options.log.refusedToken(req, error)
  const known = faceOf(error, options.metadataUrl)
  if (known === undefined || known.status >= 500) options.log.failed(req, error)
  if (res.headersSent) {
    res.destroy()
    return
  }
  const face = known ?? { status: 500, fields: {}, text: STATUS_CODES[500] ?? '' }
  answerText(req, res, face.status, face.text, face.fields)
}
