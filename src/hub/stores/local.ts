import type { HistoryPage, HubStore, UpdateListener } from '../store.ts'

const NOTHING: HistoryPage = Object.freeze({ updates: [], complete: true, atHead: true })

/** A store without history: updates reach the subscribers that are connected, and nobody later. */
export function localStore(): HubStore {
  let seq = 0
  let listener: UpdateListener | undefined
  return {
    open(heard) {
      listener = heard
      return Promise.resolve({ seq, id: undefined })
    },
    append(update) {
      if (listener === undefined) return Promise.reject(new Error('the hub store is closed'))
      seq += 1
      listener({ ...update, seq })
      return Promise.resolve()
    },
    locate: () => Promise.resolve(undefined),
    readAfter: () => Promise.resolve(NOTHING),
    close() {
      listener = undefined
      return Promise.resolve()
    },
  }
}
