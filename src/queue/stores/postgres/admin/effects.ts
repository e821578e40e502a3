import type { QueueColumn } from '../../../metrics/columns.ts'
import type { StoreNote, Wake } from '../../../store.ts'
import type { Answer } from '../handler.ts'
import type { QueueLabel } from './locks.ts'

/** What a write sets off besides its result. */
export class Effects {
  readonly #wakes = new Map<string, Wake>()
  readonly #notes: StoreNote[] = []

  /** Waiting pops of the queue look again at once. */
  wake({ name, namespace, task }: QueueLabel): void {
    this.#wakes.set(name, { queue: name, namespace, task, atMs: null })
  }

  /** Something that figures count. */
  note(queue: string, column: QueueColumn, value = 1): void {
    this.#notes.push({ queue, column, value })
  }

  /** Ends the write with its result. */
  with<T>(value: T): Answer<T> {
    return { value, wakes: [...this.#wakes.values()], notes: this.#notes }
  }
}
