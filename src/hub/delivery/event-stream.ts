import type { ServerResponse } from 'node:http'
import { COMMENT } from '../frame.ts'

/** Updates that may wait for one subscriber; one that falls further behind is disconnected. */
export const MAX_QUEUED_UPDATES = 1000

/** Bytes that may wait for one subscriber: a thousand updates of the largest size would be a gigabyte. */
export const MAX_QUEUED_BYTES = 32 * 1024 * 1024

/** Timers of one stream in ms; 0 switches one off. */
export interface StreamTimers {
  /** Silence after which a comment is sent. */
  readonly heartbeatMs: number
  /** Longest wait for a subscriber that does not read. */
  readonly dispatchTimeoutMs: number
}

/**
 * The output of one subscriber. Nobody ever waits for it: what the socket does not take is queued up to
 * a bound, and a subscriber that stops reading is dropped.
 */
export class EventStream {
  readonly #response: ServerResponse
  readonly #timers: StreamTimers
  readonly #onClose: () => void
  #heartbeat: NodeJS.Timeout | undefined
  #stalled: NodeJS.Timeout | undefined
  #queue: Buffer[] = []
  #queuedBytes = 0
  /** True from the moment the socket's buffer is full until it has drained. */
  #blocked = false
  #closed = false
  #idle: (() => void)[] = []

  /** Takes over a response whose head is written; `onClose` is called once, whoever ends the stream. */
  constructor(response: ServerResponse, timers: StreamTimers, onClose: () => void) {
    this.#response = response
    this.#timers = timers
    this.#onClose = onClose
    response.on('drain', () => this.#drained())
    response.on('close', () => this.#release())
  }

  /** Sends the first comment, and the head with it, so that the client knows that the stream is open. */
  open(): void {
    const { heartbeatMs } = this.#timers
    if (heartbeatMs > 0) this.#heartbeat = setTimeout(() => this.#beat(), heartbeatMs)
    this.#write(COMMENT)
  }

  /** True once the stream has ended, whoever ended it. */
  get closed(): boolean {
    return this.#closed
  }

  /** Sends one event, now or as soon as the subscriber has read what went before. */
  send(frame: Buffer): void {
    if (this.#closed) return
    if (!this.#blocked) {
      this.#write(frame)
      return
    }
    this.#queue.push(frame)
    this.#queuedBytes += frame.length
    if (this.#queue.length > MAX_QUEUED_UPDATES || this.#queuedBytes > MAX_QUEUED_BYTES) this.drop()
  }

  /** Resolves when nothing waits to be read any more, or the stream has closed. */
  whenIdle(): Promise<void> {
    if (this.#closed || !this.#blocked) return Promise.resolve()
    return new Promise((resolve) => {
      this.#idle.push(resolve)
    })
  }

  /** Ends the stream in order; a subscriber that does not read is cut off instead. */
  end(): void {
    if (this.#closed) return
    const blocked = this.#blocked
    this.#release()
    if (blocked) this.#response.destroy()
    else this.#response.end()
  }

  /** Cuts the connection. */
  drop(): void {
    if (this.#closed) return
    this.#release()
    this.#response.destroy()
  }

  /** Frees timers and buffers. */
  #release(): void {
    if (this.#closed) return
    this.#closed = true
    clearTimeout(this.#heartbeat)
    clearTimeout(this.#stalled)
    this.#queue = []
    this.#queuedBytes = 0
    this.#wakeIdle()
    this.#onClose()
  }

  #write(bytes: Buffer): void {
    this.#heartbeat?.refresh()
    if (this.#response.write(bytes)) return
    this.#blocked = true
    if (this.#timers.dispatchTimeoutMs > 0) {
      this.#stalled = setTimeout(() => this.drop(), this.#timers.dispatchTimeoutMs)
    }
  }

  #drained(): void {
    this.#blocked = false
    clearTimeout(this.#stalled)
    let sent = 0
    for (const frame of this.#queue) {
      if (this.#closed || this.#blocked) break
      this.#write(frame)
      this.#queuedBytes -= frame.length
      sent += 1
    }
    this.#queue.splice(0, sent)
    if (!this.#blocked) this.#wakeIdle()
  }

  #beat(): void {
    // A blocked stream has unread bytes in it; a comment behind them would help nobody.
    if (this.#blocked) this.#heartbeat?.refresh()
    else this.#write(COMMENT)
  }

  #wakeIdle(): void {
    const waiting = this.#idle
    this.#idle = []
    for (const wake of waiting) wake()
  }
}
