import express, { type Router } from 'express'
import { z } from 'zod'
import type { RouteTable } from '../access/index.ts'
import { answerJsonText, type Operation, openApiDocument, operation } from '../http/index.ts'

/** GET /openapi.json. */
const showDocument = operation({
  method: 'GET',
  path: '/openapi.json',
  answers: {
    200: {
      about: 'The OpenAPI 3.1 document of this broker.',
      json: z.looseObject({ openapi: z.literal('3.1.0'), info: z.looseObject({}) }),
    },
  },
})

const TITLE = 'hivegate'
const ABOUT =
  'A message broker behind a JWT gate. Each operation names its access level; with JWT_ENABLED off ' +
  'no operation asks for a token.'

/**
 * Serves the API document of every row of the route table, with the schemas of the operations that describe
 * themselves. It is written once, at the first request.
 */
export function openApiRouter(
  table: RouteTable,
  operations: readonly Operation[],
  version: string,
): Router {
  const router = express.Router({ caseSensitive: true, strict: true })
  let text: string | undefined
  router.get(showDocument.path, (_req, res) => {
    text ??= JSON.stringify(
      openApiDocument({ title: TITLE, version, description: ABOUT }, table.routes, [
        ...operations,
        showDocument,
      ]),
    )
    answerJsonText(res, 200, text)
  })
  return router
}
