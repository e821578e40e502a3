import type { Request } from 'express'
import type { HubConfig } from '../config/index.ts'
import { HUB_PATH, METADATA_PATH } from './reserved.ts'

/**
 * A host as RFC 3986 section 3.2.2 writes names and addresses, with an optional port. The URL parser
 * takes more, a quote for instance, and what it takes would stand in a challenge between quotes.
 */
const HOST = /^(?:[A-Za-z0-9._~%-]+|\[[0-9A-Fa-f:.]+\])(?::[0-9]*)?$/

/** No token can name it: a request without a usable host has no identity that a token could be for. */
const NO_RESOURCE = '\0'

/** How a request reached the hub. */
export interface RequestOrigin {
  /** TLS on the socket, or what a trusted proxy says. */
  readonly scheme: 'http' | 'https'
  /** `scheme://host[:port]`, host in lower case, default port dropped; undefined without a usable host. */
  readonly origin: string | undefined
  /** The value that `aud` has to contain: the pinned identifier, or the hub URL under this origin. */
  readonly resourceIdentifier: string
  /** The absolute URL of the metadata document, if one can be built. */
  readonly metadataUrl: string | undefined
}

function originOf(scheme: string, host: string | undefined): string | undefined {
  if (host === undefined || !HOST.test(host)) return undefined
  return URL.parse(`${scheme}://${host}`)?.origin
}

/**
 * RFC 9728 section 3: the document's place follows from the resource identifier. A pinned identifier
 * with another path than the hub's cannot be followed, then this request's origin leads there.
 */
function metadataUrlOf(identifier: string | undefined, origin: string | undefined) {
  const pinned = identifier === undefined ? null : URL.parse(identifier)
  const isHubUrl = pinned?.pathname === HUB_PATH && /^https?:$/.test(pinned.protocol)
  const base = pinned !== null && isHubUrl ? pinned.origin : origin
  return base === undefined ? undefined : `${base}${METADATA_PATH}`
}

/**
 * Works out how a request reached the hub. Forwarded headers count only as far as the app's
 * `trust proxy` setting lets Express read them.
 */
export function requestOrigin(req: Request, config: HubConfig): RequestOrigin {
  const scheme = req.protocol === 'https' ? 'https' : 'http'
  const origin = originOf(scheme, req.host)
  const derived = origin === undefined ? NO_RESOURCE : `${origin}${HUB_PATH}`
  return {
    scheme,
    origin,
    resourceIdentifier: config.resourceIdentifier ?? derived,
    metadataUrl: metadataUrlOf(config.resourceIdentifier, origin),
  }
}

/** Whether this origin is served: any without an allowlist, else only those listed, scheme included. */
export function isServedOrigin({ origin }: RequestOrigin, config: HubConfig): boolean {
  if (config.publicUrls.length === 0) return true
  return origin !== undefined && config.publicUrls.includes(origin)
}
