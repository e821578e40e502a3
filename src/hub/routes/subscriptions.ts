import type { Request, Response } from 'express'
import { isMatcherType } from '../../access/index.ts'
import { answer, HubRefusal, headerText } from '../answers.ts'
import { type HubContext, identify, verifies } from '../context.ts'
import { discoveryLinks } from '../discovery.ts'
import { HubAuthError, HubRequestError } from '../errors.ts'
import { EARLIEST, HUB_EVENT_TYPE, HUB_PATH } from '../reserved.ts'
import {
  activeSubscriptions,
  SUBSCRIPTIONS_PATH,
  type SubscriptionFilter,
} from '../subscriptions.ts'

const JSON_TYPE = 'application/json'

/** The path as it was sent, still encoded, without the query: what is authorized and what is shown. */
function sentPath(req: Request): string {
  return req.originalUrl.split('?', 1)[0] ?? ''
}

/**
 * The request path is the topic that the token has to cover (protocol, "the web API"). Without any
 * subscriber verifier there is nothing to check against, and the lists are open.
 * @throws HubAuthError 400, 401, 403
 */
async function authorize(hub: HubContext, req: Request): Promise<void> {
  if (!verifies(hub, 'subscriber')) return
  const identity = await identify(hub, req, 'subscriber')
  // Anonymous mode opens the stream, not the list of who is there.
  if (identity.anonymous) throw new HubAuthError('token_missing', 'subscriptions_need_a_token')
  if (!identity.grants.allows('subscribe', sentPath(req))) {
    throw new HubAuthError('not_granted', 'subscriptions_not_granted')
  }
}

/** The variables of the path, each decoded once; a `+` stays a `+`. */
function readFilter(path: string): SubscriptionFilter {
  const [type, match, subscriber] = path
    .slice(SUBSCRIPTIONS_PATH.length + 1)
    .split('/')
    .map(decodeURIComponent)
  if (match === undefined) return {}
  if (!isMatcherType(type)) {
    throw new HubRequestError('unknown_match_type', 'match_type: unknown')
  }
  return { type, match, subscriber }
}

/** An entity tag over an id: what cannot stand in a tag is percent-encoded, the rest stays. */
function entityTag(id: string): string {
  const safe = id.replace(/[\0-\x20"%\x7f]/g, (character) => {
    return `%${character.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`
  })
  return headerText(`"${safe}"`)
}

/** RFC 9110 section 13.1.2: a list of tags or `*`; weak comparison, so a `W/` in front plays no part. */
function isUnchanged(req: Request, tag: string): boolean {
  const field = req.headers['if-none-match']
  if (field === undefined) return false
  if (field.trim() === '*') return true
  return [...field.matchAll(/"[^"]*"/g)].some(([candidate]) => candidate === tag)
}

function bodyOf(hub: HubContext, req: Request): unknown {
  const path = sentPath(req)
  const filter = readFilter(path)
  const subscriptions = activeSubscriptions(hub.engine.index.all, filter)
  if (filter.subscriber === undefined) return { id: path, type: 'subscriptions', subscriptions }
  const [only] = subscriptions
  if (only === undefined) throw new HubRefusal(404)
  return only
}

/** `GET` on the subscription routes: who is connected now, and from where to follow what changes. */
export async function listSubscriptions(
  hub: HubContext,
  req: Request,
  res: Response,
): Promise<void> {
  await authorize(hub, req)
  await hub.ready
  // One moment for all three: list, link and tag are read without a wait in between.
  const body = bodyOf(hub, req)
  const lastEventId = hub.engine.lastEventId ?? EARLIEST
  const tag = entityTag(lastEventId)
  if (isUnchanged(req, tag)) {
    answer(req, res, 304, { ETag: tag })
    return
  }
  const [link = ''] = discoveryLinks({
    hubUrl: HUB_PATH,
    lastEventId,
    type: HUB_EVENT_TYPE,
    contentType: JSON_TYPE,
  })
  const fields = {
    'Content-Type': JSON_TYPE,
    'Cache-Control': 'must-revalidate',
    Link: link,
    ETag: tag,
  }
  answer(req, res, 200, fields, JSON.stringify(body))
}
