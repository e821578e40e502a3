import { type ModuleSpec, type SqliteHost, siblingUrl } from '../../../storage/index.ts'
import type { QueueStore, Reads, WriteOutcome } from '../../store.ts'
import type { QueueStoreOptions } from './context.ts'
import type { WriteAnswer } from './session.ts'

export type { QueueStoreOptions } from './context.ts'

/** Names the queue's module for the embedded host. */
export function sqliteQueueModule(options: QueueStoreOptions): ModuleSpec {
  return { url: siblingUrl(import.meta.url, './module'), options }
}

/** The queue's store on the embedded host, which was opened with `sqliteQueueModule`. */
export function sqliteQueueStore(host: SqliteHost): QueueStore {
  return {
    async commit(batch) {
      const outcomes = await host.commit('queue', batch)
      return outcomes.map((outcome): WriteOutcome => {
        if (!outcome.ok) return outcome
        // The session answers every write in this form.
        const { value, wakes = [], notes = [] } = outcome.value as WriteAnswer
        return { ok: true, value, wakes, notes }
      })
    },
    async read(kind, args) {
      // The session answers each kind with its own result.
      return (await host.read('queue', { kind, args })) as Reads[typeof kind]['result']
    },
    // One process owns the file: nothing comes from elsewhere.
    onRemoteWake: () => () => {},
    ping: () => host.ping(),
    // The wings share the host; who opened it closes it.
    close: async () => {},
  }
}
