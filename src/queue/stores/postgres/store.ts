import { type PgHost, StoreFailedError } from '../../../storage/index.ts'
import { payloadCipher } from '../../cipher.ts'
import type { QueueStore, ReadKind, Reads, WriteOp, WriteOutcome } from '../../store.ts'
import { type Answer, type LaneKind, RolledBack, type StoreContext } from './handler.ts'
import { READ_HANDLERS, WRITE_HANDLERS } from './handlers.ts'
import { isLaneKind, runLane } from './lanes.ts'
import { SINGLE_READS } from './reads/index.ts'

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
  // The kind decides which arguments its handler takes.
  const handle = handlers[op.kind] as AnyWrite | undefined
  if (handle === undefined) return { ok: false, error: new StoreFailedError(op.kind) }
  try {
    const answer = await host.transaction((tx) => handle(tx, op.args, context))
    return { ok: true, ...answer }
  } catch (error) {
    if (error instanceof RolledBack) return { ok: true, ...error.answer }
    return { ok: false, error: error instanceof Error ? error : new Error(String(error)) }
  }
}

/**
 * Pushes, pops and acks of a batch go side by side, one statement each; every other write follows in its turn.
 * They come from requests that ran at the same time, so that any order is right.
 */
async function commit(
  host: PgHost,
  batch: readonly WriteOp[],
  context: StoreContext,
): Promise<readonly WriteOutcome[]> {
  const outcomes: WriteOutcome[] = []
  const lanes = new Map<LaneKind, number[]>()
  const rest: number[] = []
  batch.forEach(({ kind }, i) => {
    if (!isLaneKind(kind)) rest.push(i)
    else lanes.set(kind, [...(lanes.get(kind) ?? []), i])
  })
  const runs = [...lanes].map(async ([kind, indexes]) => {
    const ops = indexes.flatMap((i) => batch[i] ?? [])
    const answers = await runLane(host, kind, ops, context)
    answers.forEach((outcome, at) => {
      outcomes[indexes[at] ?? 0] = outcome
    })
  })
  for (const i of rest) {
    const op = batch[i]
    if (op !== undefined) outcomes[i] = await runAlone(host, op, context)
  }
  await Promise.all(runs)
  return outcomes
}

/** The queue's store on a PostgreSQL host, which was opened with `postgresQueueModule`. */
export function postgresQueueStore(host: PgHost, options: PostgresQueueOptions): QueueStore {
  const context: StoreContext = { cipher: payloadCipher(options.encryptionKey) }
  return {
    commit: (batch) => commit(host, batch, context),
    async read<K extends ReadKind>(kind: K, args: Reads[K]['args']) {
      // As above.
      const handle = READ_HANDLERS[kind] as AnyRead | undefined
      if (handle === undefined) throw new StoreFailedError(kind)
      const answer = SINGLE_READS.has(kind)
        ? handle(host, args, context)
        : host.snapshot((tx) => handle(tx, args, context))
      // The handler answers its kind's own result.
      return (await answer) as Reads[K]['result']
    },
    onRemoteWake: () => () => {},
    ping: () => host.ping(),
    // The wings share the host; who opened it closes it.
    close: async () => {},
  }
}
