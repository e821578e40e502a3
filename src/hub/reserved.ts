import { isPermittedText, WILDCARD } from '../access/index.ts'
import { HubRequestError } from './errors.ts'

/** The one path of the hub. */
export const HUB_PATH = '/.well-known/mercure'

/** Where protected resource metadata lives: the RFC 9728 prefix followed by the hub's path. */
export const METADATA_PATH = `/.well-known/oauth-protected-resource${HUB_PATH}`

/** The event type that only the hub's own events carry. */
export const HUB_EVENT_TYPE = 'mercure'

/** The cursor that stands for the start of history; it can be no update's id. */
export const EARLIEST = 'earliest'

/** Any absolute hub URL will do: scheme and authority play no part in the reserved-name test. */
const ANY_HUB_URL = `https://hub.invalid${HUB_PATH}`

/** A percent-encoded character that RFC 3986 section 2.3 calls unreserved. */
const ENCODED_UNRESERVED = /%(?:2[de]|3[0-9]|[46][1-9a-f]|[57][0-9a]|5f|7e)/gi

/**
 * Tells whether a topic addresses the hub's own path (protocol, "reserved namespace"): it is resolved
 * against the hub URL, and only encoded unreserved characters are decoded before the path is compared.
 */
export function isReservedTopic(topic: string): boolean {
  const url = URL.parse(topic, ANY_HUB_URL)
  if (url === null) return false
  const path = url.pathname.replace(ENCODED_UNRESERVED, decodeURIComponent)
  return path === HUB_PATH || path.startsWith(`${HUB_PATH}/`)
}

/**
 * Refuses a topic that no token can publish to, before it reaches any matching or caching code.
 * @throws HubRequestError 400 (`topic_forbidden_character`, `topic_wildcard`, `topic_reserved`)
 */
export function assertPublishableTopic(topic: string): void {
  if (!isPermittedText(topic)) {
    throw new HubRequestError('topic_forbidden_character', 'topic: forbidden character')
  }
  if (topic === WILDCARD) throw new HubRequestError('topic_wildcard', 'topic: * is reserved')
  if (isReservedTopic(topic)) {
    throw new HubRequestError('topic_reserved', 'topic: reserved for the hub')
  }
}

/**
 * Refuses an update id that the protocol reserves; the caller treats an empty id as absent.
 * @throws HubRequestError 400 (`id_forbidden_character`, `id_reserved`)
 */
export function assertPublishableId(id: string): void {
  if (!isPermittedText(id)) {
    throw new HubRequestError('id_forbidden_character', 'id: forbidden character')
  }
  if (id === EARLIEST || id.startsWith('#')) {
    throw new HubRequestError('id_reserved', 'id: reserved value')
  }
}

/**
 * Refuses an event type that only the hub may use; the caller treats an empty type as absent.
 * @throws HubRequestError 400 (`type_forbidden_character`, `type_reserved`)
 */
export function assertPublishableType(type: string): void {
  if (!isPermittedText(type)) {
    throw new HubRequestError('type_forbidden_character', 'type: forbidden character')
  }
  if (type === HUB_EVENT_TYPE) throw new HubRequestError('type_reserved', 'type: reserved value')
}
