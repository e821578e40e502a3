import type { OutageSpill } from '../spill/index.ts'
import type { NeighbourParts } from './neighbours.ts'

/** The parts that go on where the last process stopped. */
export interface TakeUpParts extends NeighbourParts {
  readonly spill: OutageSpill | undefined
}

/**
 * Reads the stored switches. What was diverted before a restart is replayed, unless pushes are still diverted.
 * @throws StoreError when the store does not answer; the spill is closed then
 */
export async function takeUp({ store, polls, drainer, spill }: TakeUpParts): Promise<void> {
  try {
    const { popMaintenance } = await store.read('flags', null)
    polls.paused = popMaintenance
    if ((await store.read('buffer', null)).pending > 0) drainer.kick()
  } catch (error) {
    // Else its folder would be taken until the process ends.
    await spill?.close()
    throw error
  }
}
