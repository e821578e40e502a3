import { DetailsError, NO_GRANTS, type TopicMatchers } from '../access/index.ts'
import type { HubConfig, HubRole } from '../config/index.ts'
import { type Log, NO_LOG } from '../keys/index.ts'
import { decodeToken, TokenError } from '../tokens/index.ts'
import { AccessTokenVerifier, isAccessTokenType } from './access-token.ts'
import { HubAuthError } from './errors.ts'
import type { Anonymous, HubAuthenticator, HubRequest, TokenBearer } from './identity.ts'
import { presentedToken } from './presentation.ts'
import { keySourcesOf, trustIssuers } from './trusted-issuers.ts'

/** Reads tokens of another dialect than RFC 9068. */
export interface TokenDialect {
  /** @throws TokenError for a token that is bad */
  verify(compact: string, role: HubRole): Promise<TokenBearer>
}

/** What an authenticator is made from. */
export interface AuthenticatorOptions {
  readonly config: Pick<
    HubConfig,
    'allowInsecureHttp' | 'anonymous' | 'cookieName' | 'issuers' | 'publishOrigins'
  >
  readonly matchers: TopicMatchers
  /** Time in ms. */
  readonly clock: { now(): number }
  readonly log?: Log
  /** Reads every token whose `typ` is not that of an access token; without it, those are refused. */
  readonly otherDialect?: TokenDialect
}

const ANONYMOUS: Anonymous = Object.freeze({ anonymous: true, grants: NO_GRANTS })

/** What a token can be guilty of; everything else is a fault of ours and stays what it is. */
function isTokenFault(error: unknown): error is TokenError | DetailsError {
  return error instanceof TokenError || error instanceof DetailsError
}

/** Tells which dialect a token is in; one that cannot be decoded is left to the verifier to refuse. */
function isAccessToken(compact: string): boolean {
  try {
    return isAccessTokenType(decodeToken(compact).header['typ'])
  } catch {
    return true
  }
}

/** Makes the hub's authenticator; key sets start to be fetched. Close it to stop their refreshes. */
export function createHubAuthenticator(options: AuthenticatorOptions): HubAuthenticator {
  const { config, matchers, clock, log = NO_LOG, otherDialect } = options
  const issuers = trustIssuers(config.issuers, { log, clock })
  const accessTokens = new AccessTokenVerifier(issuers, matchers, clock)
  const dialectOf = (token: string): TokenDialect | undefined =>
    otherDialect !== undefined && !isAccessToken(token) ? otherDialect : undefined

  /** Without a verifier there is nothing to validate against, so tokens are not looked at (protocol, 14). */
  const isOpen = (role: HubRole): boolean =>
    role === 'subscriber' &&
    config.anonymous &&
    otherDialect === undefined &&
    !config.issuers.some(({ subscriber }) => subscriber !== undefined)

  const bearerOf = async (
    token: string,
    role: HubRole,
    { resourceIdentifier }: HubRequest,
  ): Promise<TokenBearer> => {
    const dialect = dialectOf(token)
    if (dialect !== undefined) return await dialect.verify(token, role)
    const { grants, claims, times } = await accessTokens.verify(token, role, resourceIdentifier)
    return { anonymous: false, grants, claims, expiresAtMs: (times.exp ?? 0) * 1000 }
  }

  return {
    async authenticate(request, role) {
      if (isOpen(role)) return ANONYMOUS
      const presented = presentedToken(request, role, config)
      if (presented === undefined) {
        if (role === 'subscriber' && config.anonymous) return ANONYMOUS
        throw new HubAuthError('token_missing', 'no token was presented')
      }
      try {
        return await bearerOf(presented.token, role, request)
      } catch (cause) {
        if (!isTokenFault(cause)) throw cause
        throw new HubAuthError('token_invalid', `${cause.code}: ${cause.message}`, { cause })
      }
    },
    close() {
      for (const source of keySourcesOf(issuers)) source.close()
    },
  }
}
