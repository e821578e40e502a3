import type { PushItem } from '../store.ts'
import type { SpilledPush } from './record.ts'

// No name holds a NUL.
const placeOf = ({ queue, partition }: PushItem) => `${queue}\0${partition}`

/** How many messages wait, in all and of each partition. */
export class Waiting {
  readonly #byPlace = new Map<string, number>()
  #pending = 0

  get pending(): number {
    return this.#pending
  }

  /** True when something waits of a partition that one of the items goes to. */
  meets(items: readonly PushItem[]): boolean {
    return this.#byPlace.size > 0 && items.some((item) => this.#byPlace.has(placeOf(item)))
  }

  add(push: SpilledPush): void {
    this.#count(push, 1)
  }

  remove(push: SpilledPush): void {
    this.#count(push, -1)
  }

  #count({ messages }: SpilledPush, by: 1 | -1): void {
    this.#pending += by * messages.length
    for (const { item } of messages) {
      const place = placeOf(item)
      const count = (this.#byPlace.get(place) ?? 0) + by
      if (count > 0) this.#byPlace.set(place, count)
      else this.#byPlace.delete(place)
    }
  }
}
