import { type SpillEntry, type SpillLog, sqlState } from '../../storage/index.ts'
import type { PayloadCipher } from '../cipher.ts'
import { ReplayLoop, type ReplayStep, unlessRefused } from '../replay-loop.ts'
import type { QueueStore, StoreNote, WaitingPush, Wake } from '../store.ts'
import { decodePush, encodePush, type SpilledPush } from './record.ts'

/** Records and bytes of one step. */
const STEP_RECORDS = 200
const STEP_BYTES = 4_194_304
/** Pushes of one step came within this time, because the step has one moment for its duplicate check. */
const STEP_SPAN_US = 1_000_000

/** What was set aside and where it had waited; nothing of what it held. */
export interface SetAside {
  readonly reason: string
  readonly file: string
  readonly offset: number
  /** Undefined when it cannot be read. */
  readonly queue?: string
  readonly partition?: string
}

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
  readonly onDone: (push: SpilledPush, segment: number) => void
  /** Told of each message, and of bytes that cannot be read, when they are durable in another place. */
  readonly onSetAside: (what: SetAside) => void
}

/** A push and where it waits. */
interface Read {
  readonly entry: SpillEntry
  readonly push: SpilledPush
}

/** One message as it would have come alone. */
interface Alone extends SpilledPush {
  readonly messages: readonly [WaitingPush]
}

/** The store's own words for a refusal could repeat what it refused. */
function faultOf(error: unknown): string {
  const state = sqlState(error)
  return state === undefined ? 'refused by the store' : `refused by the database, SQLSTATE ${state}`
}

/** Stores what waits in a log, in order, as soon as the store takes it. */
export class Replayer {
  readonly #parts: ReplayerParts
  readonly #loop: ReplayLoop
  /** Messages that were refused in a step that could not be finished. */
  readonly #refused = new Set<string>()

  constructor(parts: ReplayerParts) {
    this.#parts = parts
    this.#loop = new ReplayLoop(() => this.#step(), parts.onError)
  }

  /** True while the last try found the store away. */
  get away(): boolean {
    return this.#loop.away
  }

  /** True while it cannot go on though the store is there. */
  get failing(): boolean {
    return this.#loop.failing
  }

  /** Starts, or makes a running replay look once more; returns at once. */
  kick(): void {
    this.#loop.kick()
  }

  /** Ends after the step in flight. */
  stop(): Promise<void> {
    return this.#loop.stop()
  }

  async #step(): Promise<ReplayStep> {
    const { log, cipher, onDone } = this.#parts
    const entries = await log.peek(STEP_RECORDS, STEP_BYTES)
    const [oldest] = entries
    if (oldest === undefined) return 'done'
    const step: Read[] = []
    for (const entry of entries) {
      const push = entry.damaged ? null : decodePush(entry.body, cipher)
      const firstUs = step[0]?.push.atUs ?? push?.atUs ?? 0
      if (push === null || Math.abs(push.atUs - firstUs) > STEP_SPAN_US) break
      step.push({ entry, push })
    }
    const last = step.at(-1)
    if (last === undefined) {
      await this.#setAsideUnread(oldest)
      await log.release(oldest)
      return 'more'
    }
    if (!(await this.#store(step))) return 'held'
    await log.release(last.entry)
    this.#refused.clear()
    for (const { push, entry } of step) onDone(push, entry.segment)
    return 'more'
  }

  /** False when the store holds pushes back. */
  #store(step: readonly Read[]): Promise<boolean> {
    const atUs = step[0]?.push.atUs ?? 0
    const messages = step.flatMap(({ push }) => push.messages)
    return unlessRefused(
      () => this.#send(messages, atUs),
      () => this.#storeOneByOne(step, atUs),
    )
  }

  async #storeOneByOne(step: readonly Read[], atUs: number): Promise<boolean> {
    for (const { entry, push } of step) {
      for (const message of push.messages) {
        if (this.#refused.has(message.id)) continue
        const stored = await unlessRefused(
          () => this.#send([message], atUs),
          async (error) => {
            await this.#setAside(entry, { atUs: push.atUs, messages: [message] }, error)
            return true
          },
        )
        if (!stored) return false
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

  async #setAside({ file, offset }: SpillEntry, push: Alone, error: unknown): Promise<void> {
    const { log, cipher, onSetAside } = this.#parts
    const [message] = push.messages
    const { queue, partition } = message.item
    const reason = error instanceof Error ? error.message : String(error)
    const record = encodePush(push, cipher).toString()
    await log.refuse(JSON.stringify({ reason, file, offset, queue, partition, record }))
    this.#refused.add(message.id)
    onSetAside({ reason: faultOf(error), file, offset, queue, partition })
  }

  async #setAsideUnread({ file, offset, body, damaged }: SpillEntry): Promise<void> {
    const { log, onSetAside } = this.#parts
    const where = { file, offset }
    const line = damaged
      ? { reason: 'its bytes are damaged', ...where, bytes: body.toString('base64') }
      : { reason: 'it cannot be read with this key', ...where, record: body.toString() }
    await log.refuse(JSON.stringify(line))
    onSetAside({ reason: line.reason, ...where })
  }
}
