import {
  type BatchReport,
  type CommitOutcome,
  GroupCommit,
  type PgHost,
  type PgModule,
  readMigrations,
  StoreFailedError,
} from '../../../storage/index.ts'
import { EARLIEST } from '../../reserved.ts'
import type { HubStore, StoredUpdate, Update } from '../../store.ts'
import { CHANNEL, Feed } from './feed.ts'
import { locate, readPage } from './reads.ts'

/** The hub's tables in the PostgreSQL store. */
export const HUB_PG_MODULE: PgModule = {
  name: 'hub',
  migrations: readMigrations(new URL('./migrations/', import.meta.url)),
}

/** Settings of the shared history. */
export interface PostgresHubStoreOptions {
  /** Most updates kept; 0 = unlimited. */
  readonly historySize: number
  readonly onBatch?: (report: BatchReport) => void
  /** Time in ms between looks for updates whose notification was lost. */
  readonly checkMs?: number
}

interface Append {
  readonly update: Update
  /** Updates to keep once it is in; 0 = all. */
  readonly keep: number
}

function sizeOf({ update }: Append): number {
  return update.topics.reduce((sum, topic) => sum + topic.length, update.data.length)
}

/** One statement for the whole batch. */
async function appendBatch(host: PgHost, batch: readonly Append[]): Promise<StoredUpdate[]> {
  const updates = batch.map(({ update }) => update)
  const [row] = await host.rows<{ before: number }>(
    'hub_append',
    'SELECT hivegate.hub_append($1, $2, $3, $4, $5, $6, $7) AS before',
    [
      updates.map(({ id }) => id),
      updates.map((update) => update.private),
      updates.map(({ topics }) => JSON.stringify(topics)),
      updates.map(({ data }) => Buffer.from(data)),
      updates.map(({ type = null }) => type),
      updates.map(({ retry = null }) => retry),
      Math.max(0, ...batch.map(({ keep }) => keep)),
    ],
  )
  const before = row?.before ?? 0
  return updates.map((update, at) => ({ ...update, seq: before + at + 1 }))
}

/** Appends the batch; if the database refuses one of its updates, each on its own. */
async function commitBatch(
  host: PgHost,
  feed: Feed,
  batch: readonly Append[],
): Promise<readonly CommitOutcome[]> {
  try {
    const stored = await appendBatch(host, batch)
    const newest = stored.at(-1)?.seq ?? 0
    // Everybody looks from time to time, so a notification that gets lost, or a look that fails, is no harm.
    host.notify(CHANNEL, String(newest)).catch(() => undefined)
    await feed.appended(stored).catch(() => undefined)
    return batch.map(() => ({ ok: true, value: null }))
  } catch (error) {
    if (!(error instanceof StoreFailedError)) throw error
    if (batch.length === 1) return [{ ok: false, error }]
    const outcomes: CommitOutcome[] = []
    for (const one of batch) outcomes.push(...(await commitBatch(host, feed, [one])))
    return outcomes
  }
}

/**
 * The history in a PostgreSQL database that several brokers may share: one hub-wide order, and every broker hears
 * every update once in that order. The host belongs to the caller, who has opened it with `HUB_PG_MODULE` and
 * closes it after this store.
 */
export function postgresHubStore(host: PgHost, options: PostgresHubStoreOptions): HubStore {
  let feed: Feed | undefined
  const commits = new GroupCommit<Append, CommitOutcome>({
    sizeOf,
    ...(options.onBatch === undefined ? {} : { onBatch: options.onBatch }),
    commit(batch) {
      if (feed === undefined) return Promise.reject(new Error('the hub store is not open'))
      return commitBatch(host, feed, batch)
    },
  })
  return {
    open(listener, onGap = () => undefined) {
      feed = new Feed({ host, listener, onGap, checkMs: options.checkMs })
      return feed.start()
    },
    async append(update: Update, trim: boolean) {
      const outcome = await commits.submit({ update, keep: trim ? options.historySize : 0 })
      if (!outcome.ok) throw outcome.error
    },
    async locate(cursor) {
      return cursor === EARLIEST ? 0 : locate(host, cursor)
    },
    async readAfter(seq) {
      const { updates, complete, atHead } = await readPage(host, seq, 'history')
      return { updates, complete, atHead }
    },
    async close() {
      await commits.close()
      await feed?.close()
    },
  }
}
