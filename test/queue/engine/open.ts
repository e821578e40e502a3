import { afterEach, vi } from 'vitest'
import { createQueueEngine } from '../../../src/queue/engine/create.ts'
import type { PopReply, PopRequest, QueueEngine } from '../../../src/queue/engine/index.ts'
import type { AckItem, QueueStore, WriteOp } from '../../../src/queue/store.ts'
import { sqliteQueueModule, sqliteQueueStore } from '../../../src/queue/stores/sqlite/index.ts'
import { openInlineHost } from '../../../src/storage/index.ts'
import { item, TEN_OF_Q } from '../../support/queue-args.ts'
import { PostgresStores } from '../../support/queue-store-postgres.ts'
import { STORE } from '../../support/test-store.ts'

export { item }

export const START_MS = 1_800_000_000_000

/** An engine on a store of its own; time stands still until the test advances it. */
export interface Bench {
  readonly engine: QueueEngine
  /** Kinds of the writes that were committed, in order. */
  readonly writes: WriteOp['kind'][]
  /** Called before each commit; a test may hold it up. */
  onCommit: (batch: readonly WriteOp[]) => Promise<void> | void
}

const opened: (() => Promise<void>)[] = []

/** Operations of the store that are under way. */
let busy = 0

const postgres = STORE === 'postgres' ? new PostgresStores() : undefined

/** An empty store that no other process knows of, so that its engine looks at nothing by itself. */
async function openAlone(): Promise<QueueStore> {
  if (postgres !== undefined) {
    const { shared: _none, ...store } = (await postgres.factory('')).store
    return store
  }
  return sqliteQueueStore(await openInlineHost([sqliteQueueModule({ encryptionKey: '' })]))
}

async function counted<T>(work: Promise<T>): Promise<T> {
  busy += 1
  try {
    return await work
  } finally {
    busy -= 1
  }
}

afterEach(async () => {
  vi.useRealTimers()
  for (const close of opened.splice(0)) await close()
})

/** Opens a bench under fake timers: `setTimeout` and the clock move together, commits go on for real. */
export async function openBench(
  limits: { maxParkedPops?: number; maxWaitingWrites?: number; maxWaitingBytes?: number } = {},
): Promise<Bench> {
  const inner = await openAlone()
  vi.useFakeTimers({ now: START_MS, toFake: ['setTimeout', 'clearTimeout', 'Date'] })
  const bench: { -readonly [K in keyof Bench]: Bench[K] } = {
    engine: undefined as unknown as QueueEngine,
    writes: [],
    onCommit: () => {},
  }
  const store: QueueStore = {
    ...inner,
    async commit(batch) {
      await bench.onCommit(batch)
      bench.writes.push(...batch.map(({ kind }) => kind))
      return counted(inner.commit(batch))
    },
    read: (kind, args) => counted(inner.read(kind, args)),
  }
  const config = { defaultSubscriptionMode: '', retentionBatchSize: 1000, partitionCleanupDays: 30 }
  bench.engine = await createQueueEngine({ store, config: { ...config, ...limits } })
  opened.push(async () => {
    await bench.engine.close()
    await inner.close()
  })
  return bench
}

/** A pop that waits 30 s unless it says otherwise. */
export function request(more: Partial<PopRequest> = {}): PopRequest {
  return {
    ...TEN_OF_Q,
    subscriptionMode: null,
    subscriptionFrom: null,
    waitMs: 30_000,
    ...more,
  }
}

export function payloads(reply: PopReply | null): readonly unknown[] {
  if (reply === null) return []
  return reply.claims.flatMap(({ messages }) => messages.map(({ payload }) => JSON.parse(payload)))
}

/** An ack of the first message of a reply. */
export function ackOf(reply: PopReply | null, status: AckItem['status'] = 'completed'): AckItem {
  const claim = reply?.claims[0]
  return {
    transactionId: claim?.messages[0]?.transactionId ?? '',
    partitionId: claim?.partitionId ?? '',
    status,
    error: null,
    leaseId: reply?.leaseId ?? null,
  }
}

/** Lets everything that is under way come to rest, without moving the clock. */
export async function settle(): Promise<void> {
  for (let quiet = 0; quiet < 20; quiet += 1) {
    await new Promise((resolve) => setImmediate(resolve))
    if (busy > 0) quiet = 0
  }
}
