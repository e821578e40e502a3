import type { DatabaseSync } from 'node:sqlite'
import { type PayloadCipher, payloadCipher } from '../../cipher.ts'
import type { QueueColumn } from '../../metrics/columns.ts'
import type { StoreNote, Wake } from '../../store.ts'
import { type CursorTable, cursorTable } from './cursors.ts'
import { MessageIds } from './ids.ts'
import { type MessageTable, messageTable } from './messages.ts'
import { PartitionTable } from './partitions.ts'
import { QueueTable } from './queues.ts'
import type { CursorRow, PartitionState, QueueState } from './state.ts'
import { SECOND_US } from './state.ts'
import { Tally } from './tally.ts'

/** Plain data that the wing hands to its store module. */
export interface QueueStoreOptions {
  /** 64 hexadecimal digits, or empty: payloads are stored in clear. */
  readonly encryptionKey: string
}

/** What all writes share: the tables, the remembered rows and the wakes of the operation at hand. */
export class Context {
  readonly db: DatabaseSync
  readonly tally: Tally
  readonly messages: MessageTable
  readonly cursors: CursorTable
  readonly queues: QueueTable
  readonly partitions: PartitionTable
  readonly cipher: PayloadCipher
  readonly ids = new MessageIds()
  readonly #onForget: (() => void)[] = []
  #notes: StoreNote[] = []
  #wakes: Wake[] = []
  #lastStampUs = 0

  constructor(db: DatabaseSync, options: QueueStoreOptions) {
    this.db = db
    this.tally = new Tally(db)
    this.messages = messageTable(db)
    this.cursors = cursorTable(db)
    this.queues = new QueueTable(db)
    this.partitions = new PartitionTable(db, this.queues)
    this.cipher = payloadCipher(options.encryptionKey)
  }

  /**
   * A moment no earlier than `nowUs` and later than every stamp before it, so that two things of one
   * millisecond have an order. A clock that was set back by more than a second is followed.
   */
  stamp(nowUs: number): number {
    const ahead = this.#lastStampUs - nowUs
    this.#lastStampUs = ahead >= 0 && ahead < SECOND_US ? this.#lastStampUs + 1 : nowUs
    return this.#lastStampUs
  }

  /** Notes that waiting pops of a queue should look again, at once or at a moment. */
  wake(queue: QueueState, atUs: number | null): void {
    const atMs = atUs === null ? null : Math.ceil(atUs / 1000)
    const known = this.#wakes.some((wake) => wake.queue === queue.name && wake.atMs === atMs)
    if (known) return
    this.#wakes.push({ queue: queue.name, namespace: queue.namespace, task: queue.task, atMs })
  }

  /** Hands over the wakes of one operation. */
  takeWakes(): readonly Wake[] {
    const wakes = this.#wakes
    this.#wakes = []
    return wakes
  }

  /** Notes something that figures count. */
  note(queue: QueueState, column: QueueColumn, value = 1): void {
    this.#notes.push({ queue: queue.name, column, value })
  }

  /** Hands over the notes of one operation. */
  takeNotes(): readonly StoreNote[] {
    const notes = this.#notes
    if (notes.length > 0) this.#notes = []
    return notes
  }

  /** After a lease ended or a cursor moved: ready at once, or idle when nothing is behind it. */
  rest(row: CursorRow, partition: PartitionState, nowUs: number): void {
    if (row.position < partition.next - 1) {
      row.ready_at = nowUs
      this.wake(partition.queue, null)
      return
    }
    row.ready_at = null
    partition.allReady = false
  }

  /** Has another part forget what it remembers of the tables at the same time. */
  onForget(listener: () => void): void {
    this.#onForget.push(listener)
  }

  /** Forgets all that was remembered; after a rollback, and when a queue goes. */
  forget(): void {
    this.queues.forget()
    this.partitions.forget()
    for (const listener of this.#onForget) listener()
  }
}
