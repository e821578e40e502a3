import type { IncomingMessage } from 'node:http'
import { createParser } from 'eventsource-parser'
import { send, textOf } from './https.ts'

/** A native client of the app: it holds its tokens in memory and sends them as a header. */
export interface TripsClientOptions {
  readonly appUrl: string
  readonly ca: string
  /** The session of `POST /login`. */
  readonly session: string
}

/** One step of a computation. */
export interface Progress {
  readonly step: number
  readonly steps: number
  readonly done: boolean
}

/** Hears what happens while a trip is followed. */
export interface Follower {
  readonly onProgress: (progress: Progress) => void
  /** Called each time a stream has opened, and each time the hub has ended one. */
  readonly onOpen?: () => void
  readonly onEnd?: () => void | Promise<void>
  readonly signal?: AbortSignal
}

/** Raised when the app says that there is no such trip; `body` are the bytes it said it with. */
export class NoSuchTripError extends Error {
  readonly code = 'no_such_trip'
  readonly body: string
  constructor(body: string) {
    super('there is no such trip')
    this.name = 'NoSuchTripError'
    this.body = body
  }
}

/** Logs in under a name and answers the session. */
export async function login(appUrl: string, ca: string, user: string): Promise<string> {
  const headers = { 'content-type': 'application/json' }
  const body = JSON.stringify({ user })
  const answer = await send({ url: `${appUrl}/login`, ca, method: 'POST', headers, body })
  return String(JSON.parse(await textOf(answer)).session)
}

/** The hub that the trip's answer names (Link header, rel="mercure"). */
function hubOf(answer: IncomingMessage): string {
  const hub = /<([^>]+)>; rel="mercure"/.exec(String(answer.headers['link']))?.[1]
  if (hub === undefined) throw new Error('the app names no hub')
  return hub
}

async function ask(options: TripsClientOptions, path: string): Promise<IncomingMessage> {
  const { appUrl, ca, session } = options
  const headers = { authorization: `Bearer ${session}` }
  const answer = await send({ url: `${appUrl}${path}`, ca, headers })
  if (answer.statusCode === 404) throw new NoSuchTripError(await textOf(answer))
  if (answer.statusCode !== 200) throw new Error(`the app answered ${answer.statusCode}`)
  return answer
}

/** A fresh token for the trip's updates. */
export async function fetchToken(options: TripsClientOptions, id: string): Promise<string> {
  return String(JSON.parse(await textOf(await ask(options, `/trips/${id}/mercure-token`))).token)
}

/**
 * Follows a trip until its computation is done. When the hub closes the stream because the token expired, it
 * fetches a new one and goes on after the last event that it has seen.
 */
export async function followTrip(
  options: TripsClientOptions,
  id: string,
  { onProgress, onOpen, onEnd, signal }: Follower,
): Promise<void> {
  const trip = await ask(options, `/trips/${id}`)
  await textOf(trip)
  const url = `${hubOf(trip)}?match=${encodeURIComponent(`/trips/${id}`)}`
  let lastEventId = 'earliest'
  let done = false
  const parser = createParser({
    onEvent(event) {
      lastEventId = event.id ?? lastEventId
      const progress: Progress = JSON.parse(event.data)
      done ||= progress.done
      onProgress(progress)
    },
  })
  while (!done) {
    const token = await fetchToken(options, id)
    const headers = { authorization: `Bearer ${token}`, 'last-event-id': lastEventId }
    const stream = await send({ url, ca: options.ca, headers, ...(signal && { signal }) })
    if (stream.statusCode !== 200) throw new Error(`the hub answered ${stream.statusCode}`)
    onOpen?.()
    parser.reset()
    for await (const chunk of stream) {
      parser.feed(Buffer.from(chunk).toString())
      if (done) break
    }
    await onEnd?.()
  }
}
