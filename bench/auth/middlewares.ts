import type { Request, RequestHandler } from 'express'
import { expressjwt } from 'express-jwt'
import { auth as oauth2Bearer } from 'express-oauth2-jwt-bearer'
import { createVerifier } from 'fast-jwt'
import { brokerAuth, loadAuthConfig } from '../../src/auth.ts'
import type { Material } from './material.ts'

export const ISSUER = 'https://issuer.bench.example/'
export const AUDIENCE = 'hivegate-bench'

export type Algorithm = 'HS256' | 'RS256'

const MIDDLEWARES = {
  none: () => (_req, _res, next) => next(),
  'hivegate warm': (alg, keys) => hivegate(alg, keys),
  'hivegate cold': (alg, keys) => hivegate(alg, keys, 0),
  'express-oauth2-jwt-bearer': (alg, keys) =>
    alg === 'HS256'
      ? oauth2Bearer({
          issuer: ISSUER,
          audience: AUDIENCE,
          secret: keys.secret,
          tokenSigningAlg: alg,
        })
      : oauth2Bearer({ issuer: ISSUER, audience: AUDIENCE, jwksUri: keys.jwksUri }),
  'express-jwt': (alg, keys) =>
    expressjwt({
      secret: alg === 'HS256' ? keys.secret : keys.publicPem,
      algorithms: [alg],
      issuer: ISSUER,
      audience: AUDIENCE,
    }),
  'fast-jwt': (alg, keys) => fastJwt(alg, keys, false),
  'fast-jwt cached': (alg, keys) => fastJwt(alg, keys, true),
} satisfies Record<string, (alg: Algorithm, keys: Material) => RequestHandler>

export type MiddlewareName = keyof typeof MIDDLEWARES

export const MIDDLEWARE_NAMES = Object.keys(MIDDLEWARES) as MiddlewareName[]

/** The named middleware, set up to check signature, times, issuer and audience. */
export function middleware(name: MiddlewareName, alg: Algorithm, keys: Material): RequestHandler {
  return MIDDLEWARES[name](alg, keys)
}

function hivegate(alg: Algorithm, keys: Material, cacheSize?: number): RequestHandler {
  const config = loadAuthConfig({
    JWT_ENABLED: 'true',
    JWT_ALGORITHM: alg,
    JWT_ISSUER: ISSUER,
    JWT_AUDIENCE: AUDIENCE,
    ...(alg === 'HS256' ? { JWT_SECRET: keys.secret } : { JWT_PUBLIC_KEY: keys.publicPem }),
  })
  return brokerAuth(config, cacheSize === undefined ? {} : { cacheSize })
}

/** fast-jwt ships no Express middleware: this is the least one that hands the claims on. */
function fastJwt(alg: Algorithm, keys: Material, cache: boolean): RequestHandler {
  const verify = createVerifier({
    key: alg === 'HS256' ? keys.secret : keys.publicPem,
    algorithms: [alg],
    allowedIss: ISSUER,
    allowedAud: AUDIENCE,
    cache,
  })
  return (req: Request & { claims?: unknown }, res, next) => {
    try {
      req.claims = verify((req.headers.authorization ?? '').slice('Bearer '.length))
    } catch {
      res.status(401).json({ error: 'Invalid token' })
      return
    }
    next()
  }
}
