import { type PgHost, type StoreError, StoreFailedError } from '../../../storage/index.ts'
import { payloadCipher } from '../../cipher.ts'
import type { QueueStore, ReadKind, Reads, WriteOp, WriteOutcome } from '../../store.ts'
import type { Answer, StoreContext } from './handler.ts'
import { READ_HANDLERS, WRITE_HANDLERS } from './handlers.ts'

/** Settings of the store. */
export interface PostgresQueueOptions {
  /** 64 hexadecimal digits, or empty: payloads are stored in clear. */
  readonly encryptionKey: string
}

type AnyWrite = (tx: unknown, args: unknown, context: StoreContext) => Promise<Answer<unknown>>
type AnyRead = (tx: unknown, args: unknown, context: StoreContext) => Promise<unknown>

async function alone(host: PgHost, context: StoreContext, op: WriteOp): Promise<WriteOutcome> {
  const handlers: Readonly<Record<string, unknown>> = WRITE_HANDLERS
  // The kind decides which arguments its handler takes.
  const handle = handlers[op.kind] as AnyWrite | undefined
  if (handle === undefined) return { ok: false, error: new StoreFailedError(op.kind) }
  try {
    const answer = await host.transaction((tx) => handle(tx, op.args, context))
    return { ok: true, ...answer }
  } catch (error) {
    return { ok: false, error: error as StoreError }
  }
}

/** The queue's store on a PostgreSQL host, which was opened with `postgresQueueModule`. */
export function postgresQueueStore(host: PgHost, options: PostgresQueueOptions): QueueStore {
  const context: StoreContext = { cipher: payloadCipher(options.encryptionKey) }
  return {
    async commit(batch) {
      const outcomes: WriteOutcome[] = []
      for (const op of batch) outcomes.push(await alone(host, context, op))
      return outcomes
    },
    async read<K extends ReadKind>(kind: K, args: Reads[K]['args']) {
      // As above.
      const handle = READ_HANDLERS[kind] as AnyRead | undefined
      if (handle === undefined) throw new StoreFailedError(kind)
      // The handler answers its kind's own result.
      return (await host.snapshot((tx) => handle(tx, args, context))) as Reads[K]['result']
    },
    onRemoteWake: () => () => {},
    ping: () => host.ping(),
    // The wings share the host; who opened it closes it.
    close: async () => {},
  }
}
