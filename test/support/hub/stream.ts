import { createParser, type EventSourceMessage } from 'eventsource-parser'
import { onTestFinished } from 'vitest'
import type { RunningHub } from './hub.ts'
import { bearer } from './tokens.ts'

/** An open event stream, read by a parser that is not ours. */
export interface OpenStream {
  readonly response: Response
  /** Comments that have come; the first one opens the stream. */
  readonly comments: readonly string[]
  /** Events that have come and were not taken by `next`. */
  readonly waiting: readonly EventSourceMessage[]
  /** Takes the next event. @throws when the stream ends first */
  next(): Promise<EventSourceMessage>
  /** Takes the next events. */
  take(count: number): Promise<readonly EventSourceMessage[]>
  /** Resolves when the hub has ended the stream, cut it, or `close` was called. */
  readonly ended: Promise<void>
  /** Goes away. */
  close(): void
}

/** Where and how to subscribe. */
export interface SubscribeOptions {
  readonly token?: string
  readonly headers?: Readonly<Record<string, string>>
}

/** Reads a response as an event stream. */
export function readStream(response: Response, close: () => void): OpenStream {
  const waiting: EventSourceMessage[] = []
  const comments: string[] = []
  let over = false
  let wake = (): void => {}
  const parser = createParser({
    onEvent: (event) => {
      waiting.push(event)
      wake()
    },
    onComment: (comment) => comments.push(comment),
  })
  const pump = async (): Promise<void> => {
    // The body of a refusal is left to the test.
    if (!response.ok) return
    const decoder = new TextDecoder()
    try {
      for await (const chunk of response.body ?? [])
        parser.feed(decoder.decode(chunk, { stream: true }))
    } catch {
      // A cut connection and our own `close` both end the stream.
    }
  }
  const ended = pump().then(() => {
    over = true
    wake()
  })
  const next = async (): Promise<EventSourceMessage> => {
    for (;;) {
      const event = waiting.shift()
      if (event) return event
      if (over) throw new Error('the stream ended before the next event')
      await new Promise<void>((resolve) => {
        wake = resolve
      })
    }
  }
  const take = async (count: number): Promise<readonly EventSourceMessage[]> => {
    const events: EventSourceMessage[] = []
    while (events.length < count) events.push(await next())
    return events
  }
  return { response, comments, waiting, next, take, ended, close }
}

/** Opens a stream with these query parameters and waits for its head; a refusal is in `response`. */
export async function subscribe(
  hub: RunningHub,
  query: string,
  options: SubscribeOptions = {},
): Promise<OpenStream> {
  const controller = new AbortController()
  const close = () => controller.abort()
  onTestFinished(close)
  const authorization = options.token === undefined ? {} : bearer(options.token)
  const response = await fetch(`${hub.url}?${query}`, {
    headers: { ...authorization, ...options.headers },
    signal: controller.signal,
  })
  return readStream(response, close)
}
