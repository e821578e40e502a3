import { advance, formatId, type IdMark } from '../../message-id.ts'

function isBelow(a: IdMark, b: IdMark): boolean {
  return a.ms < b.ms || (a.ms === b.ms && a.seq < b.seq)
}

/**
 * Makes the ids of messages: each above every one made before in this process, so that the ids of one write
 * rise in its order over all partitions (queue API 15.3), and a message that waits in the buffer of push
 * maintenance stays below what its partition gets later.
 */
export class MessageIds {
  readonly #mark: IdMark = { ms: 0, seq: 0 }

  /** The next id; `us` is the current time in microseconds. */
  next(us: number): string {
    advance(this.#mark, Math.floor(us / 1000))
    return formatId(this.#mark)
  }

  /** The next id of a partition, above all of its own too; its mark moves along. */
  nextOf(mark: IdMark, us: number): string {
    if (isBelow(this.#mark, mark)) this.#set(this.#mark, mark)
    const id = this.next(us)
    this.#set(mark, this.#mark)
    return id
  }

  #set(target: IdMark, source: IdMark): void {
    target.ms = source.ms
    target.seq = source.seq
  }
}
