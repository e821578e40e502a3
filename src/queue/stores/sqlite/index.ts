import { type ModuleSpec, type SqliteHost, siblingUrl } from '../../../storage/index.ts'
import type { QueueStore, Reads, WriteOutcome } from '../../store.ts'
import type { QueueStoreOptions } from './context.ts'
import type { WriteAnswer } from './session.ts'
import { type PushAnswerRow, pushResults, toWire } from './wire.ts'

export type { QueueStoreOptions } from './context.ts'

/** Names the queue's module for the embedded host. */
export function sqliteQueueModule(options: QueueStoreOptions): ModuleSpec {
  return { url: siblingUrl(import.meta.url, './module'), options }
}

const NOTHING: readonly never[] = []

/** The queue's store on the embedded host, which was opened with `sqliteQueueModule`. */
export function sqliteQueueStore(host: SqliteHost): QueueStore {
  return {
    async commit(batch) {
      const outcomes = await host.commit('queue', batch.map(toWire))
      return outcomes.map((outcome, at): WriteOutcome => {
        if (!outcome.ok) return outcome
        // The session answers every write in this form, and a push with its row.
        const { value, wakes = NOTHING, notes = NOTHING } = outcome.value as WriteAnswer
        const isPush = batch[at]?.kind === 'push'
        return {
          ok: true,
          value: isPush ? pushResults(value as PushAnswerRow) : value,
          wakes,
          notes,
        }
      })
    },
    async read(kind, args) {
      // The session answers each kind with its own result.
      return (await host.read('queue', { kind, args })) as Reads[typeof kind]['result']
    },
    inHalves: true,
    // One process owns the file: nothing comes from elsewhere.
    onRemoteWake: () => () => {},
    ping: () => host.ping(),
    // The wings share the host; who opened it closes it.
    close: async () => {},
  }
}
