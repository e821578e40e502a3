import { v7 } from 'uuid'
import type { Walk } from '../../access/index.ts'
import type { Clock } from '../clock.ts'
import { eventFrame } from '../frame.ts'
import type { HubStore, StoredUpdate, Update } from '../store.ts'
import { MAX_QUEUED_UPDATES } from './event-stream.ts'
import { holdBack, replay } from './replay.ts'
import { mayRead, type Subscriber } from './subscriber.ts'
import type { SubscriberIndex } from './subscriber-index.ts'
import { Turns } from './turns.ts'

/** What the engine is built from. */
export interface EngineOptions {
  readonly store: HubStore
  readonly clock: Clock
  /** From 0 to 1, as Math.random. */
  readonly random: () => number
  readonly index: SubscriberIndex
  /** Most updates kept; 0 = unlimited. */
  readonly historySize: number
  /** Probability from 0 to 1 that an update trims the history. */
  readonly cleanupFrequency: number
  /** Hears of a replay that the store could not finish; the subscriber is disconnected. */
  readonly onReplayFailure: (error: unknown) => void
}

/** Accepts updates in one hub-wide order and hands each to those who asked for it and may see it. */
export class DeliveryEngine {
  readonly index: SubscriberIndex
  readonly #options: EngineOptions
  #headSeq = 0
  #headId: string | undefined
  /** Everything that compares topics with patterns takes its turns here. */
  readonly turns = new Turns()
  /** Updates that were heard and are still to be handed on. */
  readonly #line: StoredUpdate[] = []
  #handing = false
  readonly #waiting: (() => void)[] = []
  /** Appends that are not answered yet; closing waits for them. */
  readonly #open = new Set<Promise<void>>()

  constructor(options: EngineOptions) {
    this.#options = options
    this.index = options.index
  }

  /** Id of the newest update of any topic; undefined when there was none yet. */
  get lastEventId(): string | undefined {
    return this.#headId
  }

  /** Opens the store. */
  async start(): Promise<void> {
    const head = await this.#options.store.open(
      (update) => this.#deliver(update),
      // Clients come back with their last id, and learn from the answer whether they have lost something.
      () => this.endStreams(),
    )
    // Updates may have been heard while the store opened.
    if (head.seq <= this.#headSeq) return
    this.#headSeq = head.seq
    this.#headId = head.id
  }

  /**
   * Accepts an update; makes its id (a time-ordered UUID) if it has none. Resolves with the id once the
   * update is stored, whether or not every subscriber has it.
   * @throws what the store throws; the update was then delivered to nobody
   */
  async publish(publication: Omit<Update, 'id'> & { readonly id?: string }): Promise<string> {
    const { store, historySize, cleanupFrequency, random } = this.#options
    const update = { ...publication, id: publication.id ?? `urn:uuid:${v7()}` }
    // Whoever publishes faster than updates can be handed on waits, instead of filling the memory.
    const appended = this.#handedOn().then(() =>
      store.append(update, historySize > 0 && random() < cleanupFrequency),
    )
    this.#open.add(appended)
    try {
      await appended
    } finally {
      this.#open.delete(appended)
    }
    return update.id
  }

  /** The position of a cursor in history, see `HubStore.locate`; undefined too when nothing follows any. */
  async locate(cursor: string): Promise<number | undefined> {
    return this.#headSeq === 0 ? undefined : this.#options.store.locate(cursor)
  }

  /** Adds a subscriber; with `from` it first gets the history after that position. */
  join(subscriber: Subscriber, from: number | undefined): void {
    this.index.add(subscriber)
    if (from === undefined) {
      // What was heard before is not for those who join now, although it may still be on its way.
      if (this.#handing) subscriber.liveAfter = this.#headSeq
      return
    }
    holdBack(subscriber)
    const { store } = this.#options
    const source = { store, headSeq: () => this.#headSeq, turns: this.turns }
    replay(subscriber, from, source).catch((error: unknown) => {
      subscriber.stream.end()
      this.#options.onReplayFailure(error)
    })
  }

  /** Removes a subscriber; false when it had been removed before. */
  leave(subscriber: Subscriber): boolean {
    return this.index.remove(subscriber)
  }

  /** Ends every stream; clients go on elsewhere, or later, from the last id they have. */
  endStreams(): void {
    for (const { stream } of this.index.all) stream.end()
  }

  /** Ends every stream, waits for what is being stored, closes the store. */
  async close(): Promise<void> {
    this.endStreams()
    await Promise.allSettled(this.#open)
    await this.#options.store.close()
  }

  #deliver(update: StoredUpdate): void {
    this.#headSeq = update.seq
    this.#headId = update.id
    this.#line.push(update)
    if (this.#handing) return
    this.#handing = true
    this.turns.run(this.#handOn(), () => {
      this.#handing = false
      for (const go of this.#waiting.splice(0)) go()
    })
  }

  /** Hands on what is in the line, one update after another, so that everybody has them in order. */
  *#handOn(): Walk<void> {
    for (let update = this.#line.shift(); update !== undefined; update = this.#line.shift()) {
      const recipients = yield* this.index.recipients(update.topics)
      if (recipients.size > 0) yield* this.#offer(update, recipients)
    }
  }

  *#offer(update: StoredUpdate, recipients: ReadonlySet<Subscriber>): Walk<void> {
    const frame = eventFrame(update)
    const mayBeRead = rememberGrants(update)
    for (const subscriber of recipients) {
      const reads = yield* mayBeRead(subscriber)
      if (reads) offer(subscriber, update.seq, frame, this.#options.clock.now())
    }
  }

  /** Resolves when every update that was heard has been handed on. */
  #handedOn(): Promise<void> {
    if (!this.#handing) return Promise.resolve()
    return new Promise((resolve) => {
      this.#waiting.push(resolve)
    })
  }
}

/** `mayRead` for one update: subscribers whose token is the same share their grants and the answer. */
function rememberGrants(update: Update): (subscriber: Subscriber) => Walk<boolean> {
  const answers = new Map<unknown, boolean>()
  return function* (subscriber) {
    if (!update.private) return true
    const { grants } = subscriber.identity
    const known = answers.get(grants)
    if (known !== undefined) return known
    const answer = yield* mayRead(subscriber, update)
    answers.set(grants, answer)
    return answer
  }
}

function offer(subscriber: Subscriber, seq: number, frame: Buffer, now: number): void {
  const { stream, identity, liveAfter, held } = subscriber
  // The timer that ends a stream at `exp` may be late; nothing may be sent after that moment.
  if (!identity.anonymous && identity.expiresAtMs <= now) stream.end()
  else if (seq <= liveAfter) return
  else if (held === undefined) stream.send(frame)
  else if (held.push(frame) > MAX_QUEUED_UPDATES) stream.drop()
}
