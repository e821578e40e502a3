import { type SpillLog, StoreError, sqlState } from '../../storage/index.ts'
import type { PayloadCipher } from '../cipher.ts'
import type { QueueStore, StoreNote, WaitingPush, Wake } from '../store.ts'
import { decodePush, encodePush, type SpilledPush } from './record.ts'

/** Records and bytes of one step. */
const STEP_RECORDS = 200
const STEP_BYTES = 4_194_304
/** Pushes of one step came within this time, because the step has one moment for its duplicate check. */
const STEP_SPAN_US = 1_000_000
/** While the database is away, and while push maintenance holds pushes back. */
const RETRY_MS = 250

/** SQLSTATE classes that blame the data: data exception, constraint, limit exceeded, raised by a function. */
const BAD_DATA = /^(22|23|54|P0)/

/** What a replayer works with. */
export interface ReplayerParts {
  readonly log: SpillLog
  readonly cipher: PayloadCipher
  readonly replay: NonNullable<QueueStore['replay']>
  readonly nowUs: () => number
  readonly onWakes: (wakes: readonly Wake[]) => void
  readonly onNotes: (notes: readonly StoreNote[]) => void
  /** Told of what goes wrong: of an outage once. */
  readonly onError: (error: unknown) => void
  /** Told when a push has left the line: stored, known before, or refused. */
  readonly onDone: (push: SpilledPush) => void
  /** Told of each message, and each unreadable record, that was set aside. */
  readonly onRefused: () => void
}

/** True when the store works and refuses just this: waiting would not help. */
function isRefusal(error: unknown): boolean {
  if (error instanceof StoreError && error.status === 503) return false
  const state = sqlState(error)
  return state === undefined || BAD_DATA.test(state)
}

/** Stores what waits in a log, in order, as soon as the store takes it. */
export class Replayer {
  readonly #parts: ReplayerParts
  /** Messages that were refused in a step that could not be finished. */
  readonly #refused = new Set<string>()
  #running: Promise<void> | undefined
  #again = false
  #stopped = false
  #away = false
  #retry: NodeJS.Timeout | undefined

  constructor(parts: ReplayerParts) {
    this.#parts = parts
  }

  /** True while the last try found the store away. */
  get away(): boolean {
    return this.#away
  }

  /** Starts, or makes a running replay look once more; returns at once. */
  kick(): void {
    this.#again = true
    if (this.#stopped || this.#retry !== undefined) return
    this.#running ??= this.#run().finally(() => {
      this.#running = undefined
    })
  }

  /** Ends after the step in flight. */
  async stop(): Promise<void> {
    this.#stopped = true
    clearTimeout(this.#retry)
    await this.#running
  }

  async #run(): Promise<void> {
    while (this.#again && !this.#stopped && this.#retry === undefined) {
      this.#again = false
      if (!(await this.#toTheEnd())) this.#tryLater()
    }
  }

  #tryLater(): void {
    if (this.#stopped) return
    this.#retry = setTimeout(() => {
      this.#retry = undefined
      this.kick()
    }, RETRY_MS)
    this.#retry.unref()
  }

  /** False when it has to try again later. */
  async #toTheEnd(): Promise<boolean> {
    try {
      while (!this.#stopped) {
        const bodies = await this.#parts.log.peek(STEP_RECORDS, STEP_BYTES)
        if (bodies.length === 0) return true
        const stored = await this.#step(bodies)
        this.#away = false
        if (!stored) return false
      }
      return true
    } catch (error) {
      if (!this.#away) this.#parts.onError(error)
      this.#away = true
      return false
    }
  }

  /** False when the store holds pushes back. */
  async #step(bodies: readonly Buffer[]): Promise<boolean> {
    const { log, cipher, onDone } = this.#parts
    const pushes = bodies.map((body) => decodePush(body, cipher))
    const [first] = pushes
    if (!first) {
      await this.#setAside('it cannot be read', bodies[0])
      await log.release(bodies.slice(0, 1))
      return true
    }
    const near = (push: SpilledPush | null): push is SpilledPush =>
      push !== null && Math.abs(push.atUs - first.atUs) <= STEP_SPAN_US
    const end = pushes.findIndex((push) => !near(push))
    const step = pushes.slice(0, end < 0 ? pushes.length : end).filter(near)
    const messages = step.flatMap((push) => push.messages)
    if (!(await this.#store(messages, first.atUs))) return false
    await log.release(bodies.slice(0, step.length))
    this.#refused.clear()
    for (const push of step) onDone(push)
    return true
  }

  async #store(messages: readonly WaitingPush[], atUs: number): Promise<boolean> {
    try {
      return await this.#send(messages, atUs)
    } catch (error) {
      if (!isRefusal(error)) throw error
      this.#parts.onError(error)
      return this.#storeOneByOne(messages, atUs)
    }
  }

  async #storeOneByOne(messages: readonly WaitingPush[], atUs: number): Promise<boolean> {
    for (const message of messages) {
      if (this.#refused.has(message.id)) continue
      try {
        if (!(await this.#send([message], atUs))) return false
      } catch (error) {
        if (!isRefusal(error)) throw error
        this.#refused.add(message.id)
        const reason = error instanceof Error ? error.message : String(error)
        await this.#setAside(reason, encodePush({ atUs, messages: [message] }, this.#parts.cipher))
      }
    }
    return true
  }

  async #send(messages: readonly WaitingPush[], atUs: number): Promise<boolean> {
    const { replay, nowUs } = this.#parts
    const { held, wakes, notes } = await replay({ messages, atUs, nowUs: nowUs() })
    if (wakes.length > 0) this.#parts.onWakes(wakes)
    if (notes.length > 0) this.#parts.onNotes(notes)
    return !held
  }

  async #setAside(reason: string, body: Buffer | undefined): Promise<void> {
    const record = body?.toString() ?? ''
    await this.#parts.log.refuse(JSON.stringify({ reason, record }))
    this.#parts.onRefused()
  }
}
