import type { Request, RequestHandler, Response, Router } from 'express'
import type { z } from 'zod'
import { HttpError, readJson } from '../../http/index.ts'
import { isStorableText, QUEUE_MODE } from '../model.ts'

const NUL = '%00'

const TYPE_WORDS = new Map([
  ['string', 'text'],
  ['number', 'a number'],
  ['boolean', 'true or false'],
  ['array', 'an array'],
  ['object', 'a JSON object'],
])

function placeOf(path: readonly PropertyKey[], root: string): string {
  const steps = path.map((key) => (typeof key === 'number' ? `[${key}]` : `.${String(key)}`))
  return `${root}${steps.join('')}`.replace(/^\./, '')
}

function boundOf(origin: string, side: 'least' | 'most'): string {
  const counts = origin === 'array' || origin === 'string'
  return `${counts ? 'have a length of' : 'be'} at ${side}`
}

/**
 * What is wrong with a body, in one sentence that names the place by our own member names. Values that the
 * client sent are not repeated.
 */
function problemOf(error: z.ZodError, value: unknown, root: string): string {
  const issue = error.issues[0]
  if (issue === undefined) return 'Invalid request'
  const place = placeOf(issue.path, root) || 'the body'
  if (issue.code === 'custom') return `${place} ${issue.message}`
  if (issue.code === 'too_small')
    return `${place} must ${boundOf(issue.origin, 'least')} ${issue.minimum}`
  if (issue.code === 'too_big')
    return `${place} must ${boundOf(issue.origin, 'most')} ${issue.maximum}`
  if (issue.code !== 'invalid_type') return `${place}: ${issue.message}`
  const found = issue.path.reduce<unknown>(
    (inner, key) => (typeof inner === 'object' && inner !== null ? Reflect.get(inner, key) : inner),
    value,
  )
  if (found === undefined) return `${place} is required`
  return `${place} must be ${TYPE_WORDS.get(issue.expected) ?? issue.expected}`
}

/**
 * Checks an outside value against a schema. `root` names the value inside a larger body.
 * @throws HttpError 400 that names the first wrong place
 */
export function checked<S extends z.ZodType>(schema: S, value: unknown, root = ''): z.output<S> {
  const result = schema.safeParse(value)
  if (result.success) return result.data
  throw new HttpError('invalid_request', problemOf(result.error, value, root))
}

/**
 * Reads the JSON body of a request and checks it.
 * @throws HttpError 400 or 413
 */
export function bodyOf<S extends z.ZodType>(
  schema: S,
  req: Request,
  res: Response,
  maxBytes: number,
): Promise<z.output<S>> {
  return readJson(req, res, maxBytes).then((body) => checked(schema, body))
}

/** The same for a route that may be called without a body: none counts as `{}`. */
export async function optionalBodyOf<S extends z.ZodType>(
  schema: S,
  req: Request,
  res: Response,
  maxBytes: number,
): Promise<z.output<S>> {
  return checked(schema, (await readJson(req, res, maxBytes)) ?? {})
}

/** Checks the query of a request; its schemas give every unreadable parameter its default. */
export function queryOf<S extends z.ZodType>(schema: S, req: Request): z.output<S> {
  return checked(schema, req.query)
}

/** One path parameter; the pattern of the route guarantees it. */
export function pathParam(req: Request, name: string): string {
  const value = req.params[name]
  return typeof value === 'string' ? value : ''
}

/**
 * The producer that a message is stamped with: the token's `sub` and nothing else. Seed: "Claim validation".
 * @throws HttpError 400 for a `sub` that no store gives back as it came
 */
export function producerOf(req: Request): string | null {
  const sub = req.auth?.sub || null
  if (sub === null || isStorableText(sub)) return sub
  throw new HttpError('invalid_request', 'the sub of the token must be text without NUL')
}

/** Path parameters that are no names; a name is checked by `checkName`, like everywhere. */
const PLAIN_PARAMS = ['leaseId', 'id', 'partitionId', 'transactionId', 'traceName', 'path', 'rest']

function nulError(): HttpError {
  return new HttpError('invalid_request', 'the URL must not hold a NUL')
}

/** Refuses a query with a NUL in it, whatever the path: nothing stored is so called. */
export const refuseNulQuery: RequestHandler = (req, _res, next) => {
  const query = req.url.indexOf('?')
  if (query !== -1 && req.url.includes(NUL, query)) throw nulError()
  next()
}

/** Refuses a path parameter with a NUL in it that is no name. */
export function refuseNulParams(router: Router): void {
  for (const name of PLAIN_PARAMS) {
    router.param(name, (_req, _res, next, value: unknown) => {
      if (String(value).includes('\0')) throw nulError()
      next()
    })
  }
}

/** Refuses a NUL in a path that no route has taken. */
export const refuseNulAfter: RequestHandler = (req, _res, next) => {
  if (req.url.includes(NUL)) throw nulError()
  next()
}

/** The group that a request means: none given is queue mode. Queue API 3.3. */
export function groupOf(name: string | null | undefined): string {
  return name ? name : QUEUE_MODE
}
