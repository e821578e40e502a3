import type { Request, Response } from 'express'
import type { CompiledMatcher } from '../../access/index.ts'
import { type Fields, HubRefusal, headerText } from '../answers.ts'
import { readBody } from '../body.ts'
import { type HubContext, identify } from '../context.ts'
import { closingTime, startAlarm } from '../delivery/deadline.ts'
import { EventStream } from '../delivery/event-stream.ts'
import type { Subscriber } from '../delivery/subscriber.ts'
import { HubRequestError } from '../errors.ts'
import { type FormField, fieldText, formFields, isFormType, utf8 } from '../form.ts'
import type { HubIdentity } from '../identity.ts'
import { EARLIEST } from '../reserved.ts'
import { readMatchers } from '../selection.ts'
import { subscriptionEvents } from '../subscriptions.ts'

const STREAM_FIELDS = {
  'Content-Type': 'text/event-stream',
  // `no-transform` keeps compression, which would hold events back, away from the stream.
  'Cache-Control': 'private, no-cache, no-store, must-revalidate, max-age=0, no-transform',
  Pragma: 'no-cache',
  Expires: '0',
  'X-Accel-Buffering': 'no',
} as const

/** Where a subscriber wants to go on, and what the answer says about it. */
interface Start {
  /** Position after which history is replayed; undefined: live updates only. */
  readonly from: number | undefined
  readonly fields: Fields
}

/** The parameters of the URL, then those of a QUERY body: of a repeated name the first counts. */
async function requestFields(hub: HubContext, req: Request): Promise<readonly FormField[]> {
  const query = req.originalUrl.indexOf('?')
  const text = query < 0 ? '' : req.originalUrl.slice(query + 1)
  const inUrl = [...formFields(Buffer.from(text, 'latin1'))]
  if (req.method !== 'QUERY') return inUrl
  const body = await readBody(req, hub.config.maxRequestBodyBytes)
  if (body.length > 0 && !isFormType(req.headers['content-type'])) {
    throw new HubRequestError('body_no_form', 'body: not a form')
  }
  const inBody = [...formFields(body)]
  for (const field of inBody) fieldText(field)
  return [...inUrl, ...inBody]
}

/** The cursor of a request: a header that is not empty wins; undefined when neither was sent. */
function readCursor(req: Request, fields: readonly FormField[]): string | undefined {
  const header = req.headersDistinct['last-event-id']?.[0]
  // Header text arrives as Latin-1, browsers send UTF-8.
  const inHeader = header === undefined ? undefined : utf8(Buffer.from(header, 'latin1'))
  if (inHeader) return inHeader
  const field = fields.find(({ name }) => name === 'last_event_id')
  if (field === undefined) return header === undefined ? undefined : ''
  return utf8(field.value) ?? ''
}

/** An unknown cursor is answered with `earliest`, never with an id: that could be of a private update. */
async function findStart(hub: HubContext, cursor: string | undefined): Promise<Start> {
  if (cursor === undefined) return { from: undefined, fields: {} }
  const from = cursor === '' ? undefined : await hub.engine.locate(cursor)
  const known = from === undefined ? EARLIEST : cursor
  return { from, fields: { 'Mercure-Last-Event-ID': headerText(known) } }
}

/** Tells those who watch subscriptions; nobody waits for it. */
function announce(hub: HubContext, subscriber: Subscriber, active: boolean): void {
  if (!hub.config.subscriptions) return
  for (const event of subscriptionEvents(subscriber, active)) {
    hub.engine.publish(event).catch((error: unknown) => {
      hub.log.background(error, 'hub subscription event not stored')
    })
  }
}

/** Registers the connection, sends the first bytes, and sees to its end. */
function openStream(
  hub: HubContext,
  res: Response,
  who: { readonly identity: HubIdentity; readonly matchers: readonly CompiledMatcher[] },
  from: number | undefined,
): void {
  const { config, engine, metrics } = hub
  let callOff: (() => void) | undefined
  const stream = new EventStream(res, config, () => {
    callOff?.()
    if (!engine.leave(subscriber)) return
    metrics.connected.dec()
    announce(hub, subscriber, false)
  })
  const id = hub.subscriberId(who.identity)
  const subscriber: Subscriber = { id, stream, liveAfter: 0, held: undefined, ...who }
  engine.join(subscriber, from)
  metrics.connected.inc()
  metrics.subscribers.inc()
  announce(hub, subscriber, true)
  stream.open()
  const expiresAtMs = who.identity.anonymous ? undefined : who.identity.expiresAtMs
  const closesAt = closingTime({ ...config, expiresAtMs }, hub.clock.now(), hub.random())
  if (closesAt !== undefined && !stream.closed) {
    callOff = startAlarm(
      closesAt,
      () => hub.clock.now(),
      () => stream.end(),
    )
  }
}

/** `GET`, `HEAD` and `QUERY` on the hub URL: the event stream. The order of checks is the protocol's. */
export async function subscribe(hub: HubContext, req: Request, res: Response): Promise<void> {
  const fields = await requestFields(hub, req)
  const identity = await identify(hub, req, 'subscriber')
  const matchers = readMatchers(fields, (matcher) => hub.engine.index.compile(matcher))
  const cursor = readCursor(req, fields)
  const start = await hub.ready
    .then(() => findStart(hub, cursor))
    .catch((cause: unknown) => {
      throw new HubRefusal(503, {}, { cause })
    })
  if (!hub.accepting()) throw new HubRefusal(503)
  if (res.closed) return
  // Node itself adds `Connection: keep-alive`, unless the client speaks HTTP/1.0 or will close.
  res.writeHead(200, { ...STREAM_FIELDS, ...start.fields })
  if (req.method === 'HEAD') res.end()
  else openStream(hub, res, { identity, matchers }, start.from)
}
