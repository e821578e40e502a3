import { headerText } from './answers.ts'

/** What a resource says about its hub (protocol, "the Link header of a resource"). */
export interface Discovery {
  /** The hub's URL, absolute, or its path on the same origin. */
  readonly hubUrl: string
  /** The topic to subscribe to; left out, subscribers take the resource's own URL. */
  readonly topic?: string
  /** Id of the newest event when the response is made; closes the gap between resource and stream. */
  readonly lastEventId?: string
  /** Event name of the updates, when it is not `message` and all have the same. */
  readonly type?: string
  /** Media type of the updates, when it is not that of the resource and all have the same. */
  readonly contentType?: string
}

/** A quoted string of RFC 9110 section 5.6.4. */
function quoted(text: string): string {
  return `"${text.replace(/["\\]/g, '\\$&')}"`
}

/** A link target: what would end the `<…>` early, or is no ASCII, is percent-encoded. */
function target(url: string): string {
  return url.replace(/[^\x21-\x7e]|[<>"]/gu, encodeURIComponent)
}

/**
 * The values of the `Link` header fields by which a resource names its hub and its topic (RFC 8288).
 * Pass them to `res.append('Link', …)`.
 */
export function discoveryLinks(discovery: Discovery): readonly string[] {
  const { hubUrl, topic, lastEventId, type, contentType } = discovery
  const parameters = [
    'rel="mercure"',
    ...(lastEventId === undefined ? [] : [`last-event-id=${quoted(lastEventId)}`]),
    ...(type === undefined ? [] : [`type=${quoted(type)}`]),
    ...(contentType === undefined ? [] : [`content-type=${quoted(contentType)}`]),
  ]
  const hub = `<${target(hubUrl)}>; ${parameters.join('; ')}`
  const links = topic === undefined ? [hub] : [hub, `<${target(topic)}>; rel="self"`]
  return links.map(headerText)
}
