import type { ErrorRequestHandler, Request, Response } from 'express'
import type { z } from 'zod'
import { answerErrors, answerJson, HttpError, type Logger, readJson } from '../http/index.ts'
import { challengeOf, IssuerError, type IssuerErrorCode } from './errors.ts'

/** Far above any body of these routes: 500 herd ids of 255 characters fit. */
const MAX_BODY_BYTES = 262_144

/** A time of the store, in ms, as it is answered. */
export function isoTime(ms: number): string {
  return new Date(ms).toISOString()
}

/** Reads the JSON object of a request; an absent body counts as `{}`. */
async function readObject(req: Request, res: Response): Promise<object> {
  const body = (await readJson(req, res, MAX_BODY_BYTES)) ?? {}
  if (typeof body === 'object' && body !== null && !Array.isArray(body)) return body
  throw new IssuerError('invalid_argument', 'The body must be a JSON object')
}

/** The first member at fault; its name is ours (from the schema), so it may be repeated. */
function faultOf(error: z.ZodError): IssuerError {
  const [member] = error.issues[0]?.path ?? []
  return new IssuerError(
    'invalid_argument',
    typeof member === 'string' ? `Invalid argument: ${member}` : undefined,
  )
}

/**
 * Reads and checks the JSON object of a request.
 * @throws IssuerError (`invalid_argument`) naming the member at fault; HttpError for what is no JSON
 */
export async function readArguments<S extends z.ZodType>(
  req: Request,
  res: Response,
  schema: S,
): Promise<z.output<S>> {
  const parsed = schema.safeParse(await readObject(req, res))
  if (!parsed.success) throw faultOf(parsed.error)
  return parsed.data
}

/**
 * Checks one path parameter.
 * @throws IssuerError with `code` when it is not of that form
 */
export function readParam<S extends z.ZodType>(
  req: Request,
  name: string,
  schema: S,
  code: IssuerErrorCode = 'invalid_argument',
): z.output<S> {
  const parsed = schema.safeParse(req.params[name])
  if (!parsed.success) {
    throw new IssuerError(
      code,
      code === 'invalid_argument' ? `Invalid argument: ${name}` : undefined,
    )
  }
  return parsed.data
}

/** Answers that hold tokens, claims or keys of one caller are nobody else's business. */
export function forbidStoring(res: Response): void {
  res.setHeader('Cache-Control', 'no-store')
}

/**
 * Turns the issuer's refusals into answers and hands everything else to the HTTP floor. `extra` adds members
 * beside `error`, for callers that read another one.
 */
export function answerIssuerErrors(
  log: Logger,
  extra: (error: IssuerError | HttpError) => object = () => ({}),
): ErrorRequestHandler {
  const others = answerErrors(log)
  return (error: unknown, req, res, next) => {
    const known = error instanceof IssuerError || error instanceof HttpError
    if (!known || res.headersSent) {
      others(error, req, res, next)
      return
    }
    const challenge = error instanceof IssuerError ? challengeOf(error) : undefined
    if (challenge !== undefined) res.setHeader('WWW-Authenticate', challenge)
    answerJson(res, error.status, { error: error.message, ...extra(error) })
  }
}
