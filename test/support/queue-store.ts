import type { WithoutNow } from '../../src/queue/engine/api.ts'
import type { QueueStore, Reads, WriteKind, WriteOp, Writes } from '../../src/queue/store.ts'
import { sqliteQueueModule, sqliteQueueStore } from '../../src/queue/stores/sqlite/index.ts'
import { openInlineHost, openSqliteHost } from '../../src/storage/index.ts'

/** A store with a clock of its own and one call per write. */
export interface TestStore {
  readonly store: QueueStore
  /** µs since 1970; tests move it. */
  readonly clock: { us: number }
  write<K extends WriteKind>(
    kind: K,
    args: WithoutNow<Writes[K]['args']>,
  ): Promise<Writes[K]['result']>
  read<K extends keyof Reads>(
    kind: K,
    args: WithoutNow<Reads[K]['args']>,
  ): Promise<Reads[K]['result']>
  close(): Promise<void>
}

/** 2025-06-01T12:00:00Z. */
export const START_US = Date.UTC(2025, 5, 1, 12) * 1000

/** How a test opens an empty store. */
export interface TestStoreOptions {
  /** 64 hexadecimal digits, or empty. */
  readonly encryptionKey?: string
  /** Folder of the embedded store; in memory without one. */
  readonly dataDir?: string
}

/** Opens an empty store of one kind. */
export type OpenTestStore = (options?: TestStoreOptions) => Promise<TestStore>

/** An embedded queue store in memory, or in the folder `dataDir`. */
export async function openTestStore(options: TestStoreOptions = {}): Promise<TestStore> {
  const modules = [sqliteQueueModule({ encryptionKey: options.encryptionKey ?? '' })]
  const host =
    options.dataDir === undefined
      ? await openInlineHost(modules)
      : await openSqliteHost({ dataDir: options.dataDir, modules })
  return testStore(sqliteQueueStore(host))
}

/** Gives a store a clock of its own and one call per write. */
export function testStore(store: QueueStore): TestStore {
  const clock = { us: START_US }
  return {
    store,
    clock,
    async write(kind, args) {
      const [outcome] = await store.commit([
        { kind, args: { ...args, nowUs: clock.us } } as WriteOp,
      ])
      if (outcome === undefined) throw new Error('no outcome')
      if (!outcome.ok) throw outcome.error
      return outcome.value as Writes[typeof kind]['result']
    },
    read: (kind, args) =>
      store.read(kind, (args === null ? args : { ...args, nowUs: clock.us }) as never),
    close: () => store.close(),
  }
}

/** An item as the routes hand it on. */
export function item(queue: string, payload: unknown, more: Partial<ItemParts> = {}) {
  return {
    queue,
    partition: more.partition ?? 'Default',
    payload: JSON.stringify(payload),
    transactionId: more.transactionId ?? null,
    traceId: null,
    namespace: null,
    task: null,
  }
}

interface ItemParts {
  readonly partition: string
  readonly transactionId: string
}

/** A pop of a whole queue for one group. */
export function popOf(queue: string, more: Partial<Writes['pop']['args']> = {}) {
  return {
    scope: { queue, partition: null },
    group: '__QUEUE_MODE__',
    batch: 100,
    partitions: 1,
    leaseSeconds: null,
    autoAck: false,
    subscription: { mode: 'all' as const },
    ...more,
  }
}
