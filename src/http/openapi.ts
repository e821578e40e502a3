import { z } from 'zod'
import type { Answer, Operation } from './operation.ts'

/** One row of the route table, as far as the document needs it. */
export interface DocumentedRoute {
  readonly method: string
  readonly path: string
  readonly level: string
  readonly summary: string
}

/** The name and version that head the document. */
export interface DocumentInfo {
  readonly title: string
  readonly version: string
  readonly description: string
}

/** Any JSON value; the document is built once and only ever serialised. */
type Json = Record<string, unknown>

const ERROR_REF = { $ref: '#/components/schemas/Error' }
/** Members of a path pattern: `:queue`, the wildcard `*file`, or `{*rest}`, which may be empty. */
const PATH_MEMBER = /\{\*([A-Za-z_]\w*)\}|[:*]([A-Za-z_]\w*)/g

/** Express's `/a/:b` in OpenAPI's spelling `/a/{b}`. */
export function openApiPath(pattern: string): string {
  return pattern.replace(PATH_MEMBER, '{$1$2}')
}

const METHODS_OF_3_1 = new Set([
  'GET',
  'PUT',
  'POST',
  'DELETE',
  'OPTIONS',
  'HEAD',
  'PATCH',
  'TRACE',
])

/** The member of a path item: a method that OpenAPI 3.1 does not know, such as QUERY, is an extension. */
export function operationKey(method: string): string {
  return METHODS_OF_3_1.has(method) ? method.toLowerCase() : `x-${method.toLowerCase()}`
}

function jsonSchema(schema: z.core.$ZodType, io: 'input' | 'output'): Json {
  const { $schema, ...rest } = z.toJSONSchema(schema, {
    target: 'draft-2020-12',
    io,
    unrepresentable: 'any',
  })
  return rest
}

function pathParameters(pattern: string): Json[] {
  return [...pattern.matchAll(PATH_MEMBER)].map(([, optional, name]) => ({
    name: optional ?? name,
    in: 'path',
    required: true,
    schema: { type: 'string' },
  }))
}

function queryParameters(query: z.ZodObject | undefined): Json[] {
  if (query === undefined) return []
  return Object.entries(query.shape).map(([name, schema]) => ({
    name,
    in: 'query',
    required: false,
    schema: jsonSchema(schema, 'input'),
  }))
}

function answerObject(answer: Answer): Json {
  if (answer.json !== undefined) {
    const schema = jsonSchema(answer.json, 'output')
    const type = answer.jsonType ?? 'application/json'
    return { description: answer.about, content: { [type]: { schema } } }
  }
  if (answer.text !== undefined) {
    return {
      description: answer.about,
      content: { [answer.text]: { schema: { type: 'string' } } },
    }
  }
  return { description: answer.about }
}

const FORM_TYPE = 'application/x-www-form-urlencoded'

/** A route that does not describe itself still says that it can succeed. */
const UNDESCRIBED: Readonly<Record<string, Answer>> = { '2XX': { about: 'Success.' } }

/** The answers of the gate: RFC 6750 section 3 for the challenge, queue API section 1.3 for the body. */
function gateAnswers(level: string): Json {
  if (level === 'public') return {}
  return {
    401: { $ref: '#/components/responses/Unauthorized' },
    403: { $ref: '#/components/responses/Forbidden' },
  }
}

function operationObject(route: DocumentedRoute, described: Operation | undefined): Json {
  const answers = Object.entries(described?.answers ?? UNDESCRIBED).map(([status, answer]) => [
    status,
    answerObject(answer),
  ])
  const parameters = [...pathParameters(route.path), ...queryParameters(described?.query)]
  const body = described?.body ?? described?.form
  const type = described?.form === undefined ? 'application/json' : FORM_TYPE
  return {
    operationId: `${route.method.toLowerCase()} ${openApiPath(route.path)}`,
    summary: route.summary,
    description: `Access level: ${route.level}.`,
    'x-access-level': route.level,
    security: route.level === 'public' ? [] : [{ bearer: [] }],
    ...(parameters.length > 0 && { parameters }),
    ...(body !== undefined && {
      requestBody: {
        required: described?.bodyOptional !== true,
        content: { [type]: { schema: jsonSchema(body, 'input') } },
      },
    }),
    responses: {
      ...gateAnswers(route.level),
      ...Object.fromEntries(answers),
      default: { $ref: '#/components/responses/Failure' },
    },
  }
}

const COMPONENTS = {
  securitySchemes: {
    bearer: {
      type: 'http',
      scheme: 'bearer',
      bearerFormat: 'JWT',
      description: 'Needed when JWT_ENABLED is on; the level of the operation names who passes.',
    },
  },
  schemas: {
    Error: { type: 'object', properties: { error: { type: 'string' } }, required: ['error'] },
  },
  responses: {
    Unauthorized: {
      description: 'No usable token.',
      headers: { 'WWW-Authenticate': { schema: { type: 'string' } } },
      content: { 'application/json': { schema: ERROR_REF } },
    },
    Forbidden: {
      description: 'The token is good, its roles do not pass this level.',
      headers: { 'WWW-Authenticate': { schema: { type: 'string' } } },
      content: { 'application/json': { schema: ERROR_REF } },
    },
    Failure: {
      description: 'Any other failure: a faulty request, an overload or an unexpected fault.',
      content: { 'application/json': { schema: ERROR_REF } },
    },
  },
} as const

/**
 * The OpenAPI 3.1 document of the whole broker: one operation for each row of the route table, with the
 * schemas that the route itself parses and answers with.
 */
export function openApiDocument(
  info: DocumentInfo,
  routes: readonly DocumentedRoute[],
  operations: readonly Operation[],
): Json {
  const described = new Map(operations.map((one) => [`${one.method} ${one.path}`, one]))
  const paths = new Map<string, Json>()
  for (const route of routes) {
    const path = openApiPath(route.path)
    const item = paths.get(path) ?? {}
    const known = described.get(`${route.method} ${route.path}`)
    paths.set(path, { ...item, [operationKey(route.method)]: operationObject(route, known) })
  }
  return {
    openapi: '3.1.0',
    info,
    paths: Object.fromEntries(paths),
    components: COMPONENTS,
  }
}
