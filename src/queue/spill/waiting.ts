import type { PushItem } from '../store.ts'
import type { SpilledPush } from './record.ts'

type Counts = Map<string, number>

// No name holds a NUL.
const placeOf = ({ queue, partition }: PushItem) => `${queue}\0${partition}`

function change(counts: Counts, place: string, by: number): void {
  const count = (counts.get(place) ?? 0) + by
  if (count > 0) counts.set(place, count)
  else counts.delete(place)
}

/**
 * How many messages wait, in all and of each partition. What came into a file is counted for that file too: when the
 * file is gone nothing of it waits any more, even what could not be read and so never left.
 */
export class Waiting {
  readonly #byPlace: Counts = new Map()
  readonly #bySegment = new Map<number, Counts>()
  #pending = 0

  get pending(): number {
    return this.#pending
  }

  /** True when something waits of a partition that one of the items goes to. */
  meets(items: readonly PushItem[]): boolean {
    return this.#byPlace.size > 0 && items.some((item) => this.#byPlace.has(placeOf(item)))
  }

  /** A push is on its way into a file. */
  add({ messages }: SpilledPush): void {
    for (const { item } of messages) this.#count(placeOf(item), 1)
  }

  /** A push that was added did not come into a file. */
  remove({ messages }: SpilledPush): void {
    for (const { item } of messages) this.#count(placeOf(item), -1)
  }

  /** A push that was added is in a file. */
  enter({ messages }: SpilledPush, segment: number): void {
    const counts: Counts = this.#bySegment.get(segment) ?? new Map()
    this.#bySegment.set(segment, counts)
    for (const { item } of messages) change(counts, placeOf(item), 1)
  }

  /** A push that came into a file needs no more waiting. */
  leave({ messages }: SpilledPush, segment: number): void {
    const counts = this.#bySegment.get(segment)
    for (const { item } of messages) {
      const place = placeOf(item)
      if (!counts?.has(place)) continue
      change(counts, place, -1)
      this.#count(place, -1)
    }
  }

  /** A file is gone. */
  drop(segment: number): void {
    for (const [place, count] of this.#bySegment.get(segment) ?? []) this.#count(place, -count)
    this.#bySegment.delete(segment)
  }

  #count(place: string, by: number): void {
    this.#pending += by
    change(this.#byPlace, place, by)
  }
}
