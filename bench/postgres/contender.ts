import { CALLERS } from './setting.ts'

/** One way to do a queue's work on the same database server. */
export interface Contender {
  readonly name: string
  /** All callers store `batch` messages a call for so many seconds; messages per second. */
  send(batch: number, seconds: number): Promise<number>
  /** All callers fetch and complete `batch` messages a time; messages per second. */
  consume(batch: number, seconds: number): Promise<number>
  /** Stores so many messages for `consume`. */
  fill(count: number): Promise<void>
  close(): Promise<void>
}

/** A count of messages over a time. */
export interface Pace {
  readonly messages: number
  readonly seconds: number
}

/**
 * Every caller works in a loop for so many seconds and says how many messages each turn was; a turn of none ends
 * the run, so that an empty queue is not measured.
 */
export async function pump(
  seconds: number,
  turn: (caller: number) => Promise<number>,
): Promise<Pace> {
  const start = performance.now()
  const end = start + seconds * 1000
  let messages = 0
  let dry = false
  const loop = async (caller: number): Promise<void> => {
    while (!dry && performance.now() < end) {
      const done = await turn(caller)
      messages += done
      dry ||= done === 0
    }
  }
  await Promise.all(Array.from({ length: CALLERS }, (_, caller) => loop(caller)))
  return { messages, seconds: (performance.now() - start) / 1000 }
}

export function rateOf({ messages, seconds }: Pace): number {
  return messages / seconds
}

/** Calls `store` with the sizes of as many messages as `count`, 1000 at a time. */
export async function inThousands(
  count: number,
  store: (size: number, from: number) => Promise<unknown>,
): Promise<void> {
  for (let done = 0; done < count; done += 1000) await store(Math.min(1000, count - done), done)
}
