import type { QueueStore } from '../store.ts'
import type { BufferDrainer } from './drainer.ts'
import type { Polls } from './polls.ts'

/** What other processes on the same store may change under an engine. */
export interface NeighbourParts {
  readonly store: QueueStore
  readonly polls: Polls
  readonly drainer: BufferDrainer
}

/**
 * Keeps an engine in step with the other processes on its store: their wakes, the switches that they set, and,
 * because a notification may be lost, a look of its own from time to time. Answers how to stop.
 */
export function followNeighbours({ store, polls, drainer }: NeighbourParts): () => void {
  const stopWakes = store.onRemoteWake((wake) => polls.wake([wake]))
  const { shared } = store
  if (shared === undefined) return stopWakes
  let reading = false
  let diverting = false
  const readFlags = async (): Promise<void> => {
    if (reading) return
    reading = true
    try {
      const { popMaintenance, pushMaintenance } = await store.read('flags', null)
      if (polls.paused !== popMaintenance) polls.paused = popMaintenance
      // The process that ends the maintenance drains the buffer; should it die, one of the others goes on.
      if (diverting && !pushMaintenance) drainer.kick()
      diverting = pushMaintenance
    } catch {
      // The store is away; the next turn tells.
    } finally {
      reading = false
    }
  }
  const stopFlags = shared.onFlags(() => void readFlags())
  const timer = setInterval(() => {
    polls.lookAgain()
    void readFlags()
  }, shared.recheckMs)
  timer.unref()
  return () => {
    clearInterval(timer)
    stopFlags()
    stopWakes()
  }
}
