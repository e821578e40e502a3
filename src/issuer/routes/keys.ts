import { createHash } from 'node:crypto'
import { type Request, type Response, Router } from 'express'
import { type Operation, operation } from '../../http/index.ts'
import { IssuerError } from '../errors.ts'
import type { IssuerParts } from '../parts.ts'
import { errorShape, keySetShape, publicJwkShape } from '../shapes.ts'

/** Where verifiers fetch keys: `{PUBLIC_KEYS_PATH}/{kid}.jwk`. */
export const PUBLIC_KEYS_PATH = '/pubsub/keys'
const ONE_PATH = `${PUBLIC_KEYS_PATH}/:kid.jwk`
const SET_PATH = `${PUBLIC_KEYS_PATH}/jwks.json`

/** RFC 7517 §8.5. */
const JWK_TYPE = 'application/jwk+json'
const JWK_SET_TYPE = 'application/jwk-set+json'

/** Half of the 60 s within which a revoked key is refused elsewhere; verifiers hold a key for the other half. */
const CACHEABLE = 'public, max-age=30, must-revalidate'

/** The key reads for the API document. */
export const KEY_OPERATIONS: readonly Operation[] = [
  operation({
    method: 'GET',
    path: ONE_PATH,
    answers: {
      200: { about: 'The public JWK.', json: publicJwkShape, jsonType: JWK_TYPE },
      404: { about: 'An unknown or revoked kid.', json: errorShape },
    },
  }),
  operation({
    method: 'GET',
    path: SET_PATH,
    answers: {
      200: { about: 'All active keys.', json: keySetShape, jsonType: JWK_SET_TYPE },
    },
  }),
]

function answerCacheable(req: Request, res: Response, type: string, body: unknown): void {
  const text = JSON.stringify(body)
  const tag = createHash('sha256').update(text).digest('base64url')
  res.setHeader('Cache-Control', CACHEABLE)
  res.setHeader('ETag', `"${tag}"`)
  if (req.fresh) {
    res.writeHead(304).end()
    return
  }
  res.writeHead(200, { 'Content-Type': type, 'Content-Length': Buffer.byteLength(text) })
  res.end(text)
}

/** `GET /pubsub/keys/{kid}.jwk` and `/jwks.json` (token issuing, 1.3). */
export function keysRouter({ registry }: IssuerParts): Router {
  const router = Router({ caseSensitive: true, strict: true })
  router.get(ONE_PATH, (req, res) => {
    const { kid } = req.params
    const jwk = typeof kid === 'string' ? registry.find(kid) : undefined
    if (!jwk) {
      // A key that is registered the next moment must be seen the next moment.
      res.setHeader('Cache-Control', 'no-store')
      throw new IssuerError('not_found', 'Unknown kid')
    }
    answerCacheable(req, res, JWK_TYPE, jwk)
  })
  router.get(SET_PATH, (req, res) => {
    const keys = registry.active().map((row) => row.jwk)
    answerCacheable(req, res, JWK_SET_TYPE, { keys })
  })
  return router
}
