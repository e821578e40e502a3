import type { Request, Response } from 'express'
import { MERCURE_DETAIL_TYPE } from '../../access/index.ts'
import { answer } from '../answers.ts'
import type { HubContext } from '../context.ts'
import { HubRequestError } from '../errors.ts'
import { requestOrigin } from '../origin.ts'

/** `GET` on the protected resource metadata (RFC 9728): where a token for this hub comes from. */
export function showMetadata({ config }: HubContext, req: Request, res: Response): void {
  const { resourceIdentifier, origin } = requestOrigin(req, config)
  if (config.resourceIdentifier === undefined && origin === undefined) {
    throw new HubRequestError('host_missing', 'host: missing')
  }
  const servers = config.issuers.filter((issuer) => issuer.authorizationServer)
  const document = {
    resource: resourceIdentifier,
    bearer_methods_supported: ['header'],
    ...(servers.length === 0 ? {} : { authorization_servers: servers.map(({ issuer }) => issuer) }),
    authorization_details_types_supported: [MERCURE_DETAIL_TYPE],
    mercure_cookie: config.cookieName,
    ...(config.subscriptions ? { mercure_subscriptions: true } : {}),
  }
  answer(req, res, 200, { 'Content-Type': 'application/json' }, JSON.stringify(document))
}
