import { jwtVerify } from 'jose'
import {
  NO_GRANTS,
  readAuthorizationDetails,
  type TopicMatchers,
} from '../../../src/access/index.ts'
import type { HubConfig } from '../../../src/config/index.ts'
import { HubAuthError, type HubAuthenticator } from '../../../src/hub/index.ts'

/** What a stand-in for the hub's token check is made from. */
interface Options {
  readonly config: HubConfig
  readonly matchers: TopicMatchers
  readonly clock: { now(): number }
}

/** A token check with just enough rules for the tests of the routes: one issuer, HS256. */
export function testAuthenticator({ config, matchers, clock }: Options): HubAuthenticator {
  const anonymous = { anonymous: true as const, grants: NO_GRANTS }
  const cookie = new RegExp(`${config.cookieName}=([^;]*)`)
  return {
    close() {},
    async authenticate({ headers, scheme, resourceIdentifier }, role) {
      if (!config.issuers.some((issuer) => issuer[role])) return anonymous
      const fields = headers['authorization']
      const inCookie = cookie.exec(headers['cookie']?.[0] ?? '')?.[1]
      const insecure = scheme === 'http' && !config.allowInsecureHttp
      const malformed =
        fields && (fields.length > 1 || !/^bearer .{41,32768}$/i.test(fields[0] ?? ''))
      if (((fields || inCookie) && insecure) || malformed) {
        throw new HubAuthError('token_badly_presented', 'presentation')
      }
      const token = fields ? fields[0]?.slice(7) : inCookie
      if (token === undefined) {
        if (role === 'subscriber' && config.anonymous) return anonymous
        throw new HubAuthError('token_missing', 'missing')
      }
      try {
        const verifier = config.issuers[0]?.[role]
        const key = new TextEncoder().encode(verifier?.kind === 'secret' ? verifier.secret : '')
        const { payload } = await jwtVerify(token, key, {
          audience: resourceIdentifier,
          currentDate: new Date(clock.now()),
          requiredClaims: ['exp'],
        })
        const grants = readAuthorizationDetails(payload['authorization_details'], matchers)
        return { anonymous: false, grants, claims: payload, expiresAtMs: (payload.exp ?? 0) * 1000 }
      } catch (cause) {
        throw new HubAuthError('token_invalid', 'invalid', { cause })
      }
    },
  }
}
