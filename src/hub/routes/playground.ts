import { extname } from 'node:path'
import { stringifySetCookie } from 'cookie'
import type { Request, Response } from 'express'
import { answer } from '../answers.ts'
import type { HubContext } from '../context.ts'
import { setCommonFields } from '../cross-origin.ts'
import { discoveryLinks } from '../discovery.ts'
import { requestOrigin } from '../origin.ts'
import { HUB_PATH } from '../reserved.ts'

function parameter(req: Request, name: string): string | undefined {
  const query = req.originalUrl.split('?')[1] ?? ''
  return new URLSearchParams(query).get(name) ?? undefined
}

/** The discovery cookie of an application: the token of the `jwt` parameter, or its removal. */
function cookie(name: string, scheme: string, token: string | undefined): string {
  return stringifySetCookie({
    name,
    value: token ?? '',
    path: HUB_PATH,
    httpOnly: true,
    sameSite: 'strict',
    secure: scheme === 'https' || name.startsWith('__Secure-'),
    ...(token === undefined ? { maxAge: 0 } : {}),
  })
}

/**
 * `GET /playground/…` of development mode: a make-believe application whose resource has the `body`
 * parameter as its content, names the hub, and sets the cookie.
 */
export function showPlayground({ config }: HubContext, req: Request, res: Response): void {
  const { scheme, origin } = requestOrigin(req, config)
  // The content comes from the URL; this policy keeps scripts in it from running.
  setCommonFields(req, res, config.corsOrigins)
  res.type(extname(req.path) || 'text/plain')
  const links = discoveryLinks({ hubUrl: HUB_PATH, topic: `${origin ?? ''}${req.path}` })
  for (const link of links) res.append('Link', link)
  res.setHeader('Set-Cookie', cookie(config.cookieName, scheme, parameter(req, 'jwt')))
  answer(req, res, 200, {}, parameter(req, 'body') ?? '')
}
