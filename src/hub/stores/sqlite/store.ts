import {
  type BatchReport,
  type CommitOutcome,
  GroupCommit,
  type ModuleSpec,
  type SqliteHost,
  siblingUrl,
} from '../../../storage/index.ts'
import { EARLIEST } from '../../reserved.ts'
import type { Head, HistoryPage, HubStore, Update, UpdateListener } from '../../store.ts'
import type { AppendOperation, HistoryQuery } from './protocol.ts'

const MODULE = 'hub'

/** What the host of the embedded store loads for the hub. */
export const HUB_MODULE: ModuleSpec = { url: siblingUrl(import.meta.url, './module') }

/** Settings of the embedded history. */
export interface SqliteHubStoreOptions {
  /** Most updates kept; 0 = unlimited. */
  readonly historySize: number
  readonly onBatch?: (report: BatchReport) => void
}

function sizeOf({ update }: AppendOperation): number {
  return update.topics.reduce((sum, topic) => sum + topic.length, update.data.length)
}

/** Tells the listener about a committed batch, in the order of the commit. */
function tell(
  listener: UpdateListener | undefined,
  batch: readonly AppendOperation[],
  outcomes: readonly CommitOutcome[],
): void {
  batch.forEach(({ update }, at) => {
    const outcome = outcomes[at]
    if (outcome?.ok) listener?.({ ...update, seq: Number(outcome.value) })
  })
}

/**
 * The history in the broker's embedded database; many publishes share one flush to disk. The host
 * belongs to the caller, who has opened it with `HUB_MODULE` and closes it after this store.
 */
export function sqliteHubStore(host: SqliteHost, options: SqliteHubStoreOptions): HubStore {
  let listener: UpdateListener | undefined
  const commits = new GroupCommit<AppendOperation, CommitOutcome>({
    sizeOf,
    ...(options.onBatch === undefined ? {} : { onBatch: options.onBatch }),
    async commit(batch) {
      const outcomes = await host.commit(MODULE, batch)
      tell(listener, batch, outcomes)
      return outcomes
    },
  })
  // The answers come from the module of this folder, which gives each query its type.
  const read = (query: HistoryQuery): Promise<unknown> => host.read(MODULE, query)
  return {
    async open(heard) {
      listener = heard
      return (await read({ find: 'head' })) as Head
    },
    async append(update: Update, trim: boolean) {
      const outcome = await commits.submit({ update, keep: trim ? options.historySize : 0 })
      if (!outcome.ok) throw outcome.error
    },
    async locate(cursor) {
      if (cursor === EARLIEST) return 0
      return (await read({ find: 'cursor', id: cursor })) as number | undefined
    },
    async readAfter(seq) {
      return (await read({ find: 'page', seq })) as HistoryPage
    },
    close: () => commits.close(),
  }
}
