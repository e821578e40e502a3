import type { PgHost } from '../../../storage/index.ts'
import { payloadCipher } from '../../cipher.ts'
import type { QueueStore, ReadKind, Reads, WriteKind, WriteOp, WriteOutcome } from '../../store.ts'
import { type Answer, RolledBack, type StoreContext } from './handler.ts'
import { READ_HANDLERS, WRITE_HANDLERS } from './handlers.ts'
import { isLaneKind, runLane } from './lanes.ts'
import { replayPushes } from './ops/replay.ts'
import { SINGLE_READS } from './reads/index.ts'
import { WakeBus } from './wakes.ts'

/** Settings of the store. */
export interface PostgresQueueOptions {
  /** 64 hexadecimal digits, or empty: payloads are stored in clear. */
  readonly encryptionKey: string
}

type AnyWrite = (tx: unknown, args: unknown, context: StoreContext) => Promise<Answer<unknown>>
type AnyRead = (tx: unknown, args: unknown, context: StoreContext) => Promise<unknown>

/** One write in a transaction of its own. */
async function runAlone(host: PgHost, op: WriteOp, context: StoreContext): Promise<WriteOutcome> {
  const handlers: Readonly<Record<string, unknown>> = WRITE_HANDLERS
  // The kind decides which arguments its handler takes; the lanes take the kinds that have none.
  const handle = handlers[op.kind] as AnyWrite
  try {
    const answer = await host.transaction((tx) => handle(tx, op.args, context))
    return { ok: true, ...answer }
  } catch (error) {
    if (error instanceof RolledBack) return { ok: true, ...error.answer }
    return { ok: false, error: error instanceof Error ? error : new Error(String(error)) }
  }
}

/** Transactions of one batch that run at the same time, each on a connection. */
const SIDE_BY_SIDE = 4

/** Operations that do not depend on each other, a few at a time. */
async function runAbreast(
  host: PgHost,
  ops: readonly WriteOp[],
  context: StoreContext,
): Promise<readonly WriteOutcome[]> {
  const outcomes: WriteOutcome[] = []
  const entries = ops.entries()
  const worker = async (): Promise<void> => {
    for (const [i, op] of entries) outcomes[i] = await runAlone(host, op, context)
  }
  await Promise.all(Array.from({ length: SIDE_BY_SIDE }, worker))
  return outcomes
}

async function runInTurn(
  host: PgHost,
  ops: readonly WriteOp[],
  context: StoreContext,
): Promise<readonly WriteOutcome[]> {
  const outcomes: WriteOutcome[] = []
  for (const op of ops) outcomes.push(await runAlone(host, op, context))
  return outcomes
}

/** Pushes, pops and acks have a statement of their own each; transactions are many, the rest is rare. */
function laneOf(kind: WriteKind): string {
  if (isLaneKind(kind)) return kind
  return kind === 'transaction' || kind === 'cycle' ? 'transaction' : 'rest'
}

function runOn(host: PgHost, ops: readonly WriteOp[], context: StoreContext) {
  const kind = ops[0]?.kind ?? 'push'
  if (isLaneKind(kind)) return runLane(host, kind, ops, context)
  return laneOf(kind) === 'rest' ? runInTurn(host, ops, context) : runAbreast(host, ops, context)
}

/**
 * The lanes of a batch go side by side. Its writes come from requests that ran at the same time, so that any order
 * among them is right.
 */
async function commit(
  host: PgHost,
  batch: readonly WriteOp[],
  context: StoreContext,
): Promise<readonly WriteOutcome[]> {
  const outcomes: WriteOutcome[] = []
  const lanes = Map.groupBy(
    batch.map((op, index) => ({ op, index })),
    ({ op }) => laneOf(op.kind),
  )
  await Promise.all(
    [...lanes.values()].map(async (entries) => {
      const ops = entries.map(({ op }) => op)
      const answers = await runOn(host, ops, context)
      entries.forEach(({ index }, i) => {
        const answer = answers[i]
        if (answer !== undefined) outcomes[index] = answer
      })
    }),
  )
  return outcomes
}

/**
 * Waiting pops look again this often by themselves, so that a lost notification delays nobody for longer. Queue
 * API 5.4 allows about a second.
 */
const RECHECK_MS = 1000

/** What the other brokers need to hear of a batch. */
function announce(bus: WakeBus, batch: readonly WriteOp[], outcomes: readonly WriteOutcome[]) {
  batch.forEach(({ kind }, i) => {
    const outcome = outcomes[i]
    if (!outcome?.ok) return
    // Who met a lease knows when it ends: that is told by its own pop.
    const leased = kind === 'pop' || kind === 'extend'
    bus.tell(leased ? outcome.wakes.filter(({ atMs }) => atMs === null) : outcome.wakes)
    if (kind === 'setFlag') bus.tellFlags()
  })
}

/** The queue's store on a PostgreSQL host, which was opened with `postgresQueueModule`. */
export function postgresQueueStore(host: PgHost, options: PostgresQueueOptions): QueueStore {
  const context: StoreContext = { cipher: payloadCipher(options.encryptionKey) }
  const bus = new WakeBus(host)
  return {
    laneOf,
    shared: { recheckMs: RECHECK_MS, onFlags: (listener) => bus.onFlags(listener) },
    async commit(batch) {
      const outcomes = await commit(host, batch, context)
      announce(bus, batch, outcomes)
      return outcomes
    },
    async read<K extends ReadKind>(kind: K, args: Reads[K]['args']) {
      // The kind decides which arguments its handler takes.
      const handle = READ_HANDLERS[kind] as AnyRead
      const answer = SINGLE_READS.has(kind)
        ? handle(host, args, context)
        : host.snapshot((tx) => handle(tx, args, context))
      // The handler answers its kind's own result.
      return (await answer) as Reads[K]['result']
    },
    async replay(replaying) {
      const answer = await replayPushes(host, replaying, context)
      bus.tell(answer.wakes)
      return answer
    },
    onRemoteWake: (listener) => bus.onWake(listener),
    ping: () => host.ping(),
    // The wings share the host; who opened it closes it.
    close: () => bus.close(),
  }
}
