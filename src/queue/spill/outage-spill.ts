import { type SpillLog, StoreUnavailableError } from '../../storage/index.ts'
import type { PayloadCipher } from '../cipher.ts'
import type { PushReply, SpillState } from '../engine/api.ts'
import { idAtMicros } from '../message-id.ts'
import type { PushItem, WaitingPush } from '../store.ts'
import { encodePush } from './record.ts'
import { Replayer, type ReplayerParts, type SetAside } from './replayer.ts'
import type { Waiting } from './waiting.ts'

/** A log, and what was found in it. */
export interface OpenedSpill {
  readonly log: SpillLog
  readonly cipher: PayloadCipher
  readonly waiting: Waiting
  /** What was set aside before. */
  readonly failed: number
  /** Told of each message, and of bytes that cannot be read, when they are durable in another place. */
  readonly onSetAside: (what: SetAside) => void
}

/** What a spill needs of the engine. */
export type SpillParts = Pick<ReplayerParts, 'replay' | 'nowUs' | 'onWakes' | 'onNotes' | 'onError'>

type Direct = (items: readonly PushItem[]) => Promise<readonly PushReply[]>

/** An item whose transaction id is settled before the first try: when that has no answer, the second is safe. */
type NamedItem = PushItem & { readonly transactionId: string }

/**
 * Pushes that meet a store that is away wait in files and are stored when it is back. While something of a
 * partition waits, later pushes to it line up behind, so that nothing overtakes.
 */
export class OutageSpill {
  readonly #opened: OpenedSpill
  readonly #nowUs: () => number
  readonly #replayer: Replayer
  #failed: number
  #lastUs = 0

  constructor(opened: OpenedSpill, parts: SpillParts) {
    const { log, cipher, waiting, failed, onSetAside } = opened
    this.#opened = opened
    this.#nowUs = parts.nowUs
    this.#failed = failed
    this.#replayer = new Replayer({
      ...{ ...parts, log, cipher },
      onDone: (push, segment) => waiting.leave(push, segment),
      onSetAside: (what) => {
        this.#failed += 1
        onSetAside(what)
      },
    })
    this.#replayer.kick()
  }

  state(): SpillState {
    const { log, waiting } = this.#opened
    const stuck = this.#replayer.failing || log.broken
    return { pending: waiting.pending, failed: this.#failed, stuck }
  }

  /**
   * Pushes directly when nothing stands in the way, else into the files.
   * @throws as `direct`; StoreUnavailableError when the files take no more
   */
  async push(
    items: readonly PushItem[],
    producerSub: string | null,
    direct: Direct,
  ): Promise<readonly PushReply[]> {
    const named = items.map((item): NamedItem => {
      return { ...item, transactionId: item.transactionId ?? this.#freshId() }
    })
    if (!this.#mustWait(named)) {
      try {
        return await direct(named)
      } catch (error) {
        if (!(error instanceof StoreUnavailableError)) throw error
      }
    }
    return this.#keep(named, producerSub)
  }

  /** Ends the replay after the step in flight. */
  stop(): Promise<void> {
    return this.#replayer.stop()
  }

  /** Writes what was taken in; the rest waits for the next start. */
  async close(): Promise<void> {
    await this.stop()
    await this.#opened.log.close()
  }

  #mustWait(items: readonly PushItem[]): boolean {
    const { waiting } = this.#opened
    return waiting.pending > 0 && (this.#replayer.away || waiting.meets(items))
  }

  #freshId(): string {
    this.#lastUs = Math.max(this.#nowUs(), this.#lastUs + 1)
    return idAtMicros(this.#lastUs)
  }

  async #keep(
    items: readonly NamedItem[],
    producerSub: string | null,
  ): Promise<readonly PushReply[]> {
    const { log, cipher, waiting } = this.#opened
    const messages = items.map((item): WaitingPush => ({ item, producerSub, id: this.#freshId() }))
    const push = { atUs: this.#nowUs(), messages }
    // Counted before it is on disk: whoever comes meanwhile lines up behind.
    waiting.add(push)
    try {
      waiting.enter(push, await log.append(encodePush(push, cipher)))
    } catch (error) {
      waiting.remove(push)
      throw error
    }
    this.#replayer.kick()
    return messages.map(({ item, id: messageId }, i): PushReply => {
      const transactionId = items[i]?.transactionId ?? item.transactionId ?? messageId
      return { status: 'buffered', transactionId, messageId, partitionId: null, error: null }
    })
  }
}
