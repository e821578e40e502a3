import { type BatchReport, GroupCommit } from '../../storage/index.ts'
import type {
  QueueStore,
  StoreNote,
  Wake,
  WriteKind,
  WriteOp,
  WriteOutcome,
  Writes,
} from '../store.ts'

/** Rough bytes of an operation or item beside its texts. */
const FIXED_BYTES = 200

function sizeOf(op: WriteOp): number {
  if (op.kind === 'push') {
    return op.args.items.reduce((sum, item) => sum + item.payload.length + FIXED_BYTES, FIXED_BYTES)
  }
  if (op.kind === 'transaction') {
    return op.args.operations.reduce((sum, part) => {
      return sum + FIXED_BYTES + (part.type === 'push' ? part.item.payload.length : 0)
    }, FIXED_BYTES)
  }
  if (op.kind === 'cycle') {
    const { pushItems, stateOps } = op.args
    const state = stateOps.map((one) => (one.type === 'upsert' ? one.value.length : 0))
    const sizes = [...pushItems.map(({ payload }) => payload.length), ...state]
    return sizes.reduce((sum, size) => sum + size + FIXED_BYTES, FIXED_BYTES)
  }
  if (op.kind === 'addTrace') return op.args.data.length + FIXED_BYTES
  return op.kind === 'ack' ? FIXED_BYTES * (op.args.items.length + 1) : FIXED_BYTES
}

/** Settings of the writer. */
export interface WriterOptions {
  readonly store: QueueStore
  /** Bounds of the queue in front of the store; see GroupCommit. */
  readonly maxWaitingWrites?: number | undefined
  readonly maxWaitingBytes?: number | undefined
  readonly onBatch?: ((report: BatchReport) => void) | undefined
  /** Called for every committed batch, before its operations are answered. */
  readonly onWakes: (wakes: readonly Wake[]) => void
  /** Called the same way with what the store has noted for figures. */
  readonly onNotes?: (notes: readonly StoreNote[]) => void
  /** Called for every write that failed inside the store. */
  readonly onFailure?: () => void
}

/** Sends writes to the store in groups and hands on the wakes they cause. */
export class Writer {
  readonly #group: GroupCommit<WriteOp, WriteOutcome>
  readonly #onFailure: () => void
  #errors = 0

  constructor(options: WriterOptions) {
    const { store, onWakes, onNotes, onBatch } = options
    this.#onFailure = options.onFailure ?? (() => {})
    this.#group = new GroupCommit<WriteOp, WriteOutcome>({
      sizeOf,
      ...(options.maxWaitingWrites === undefined ? {} : { maxWaiting: options.maxWaitingWrites }),
      ...(options.maxWaitingBytes === undefined
        ? {}
        : { maxWaitingBytes: options.maxWaitingBytes }),
      ...(onBatch === undefined ? {} : { onBatch }),
      commit: async (batch) => {
        const outcomes = await store.commit(batch)
        for (const outcome of outcomes) {
          if (outcome.ok && outcome.wakes.length > 0) onWakes(outcome.wakes)
          if (outcome.ok && outcome.notes.length > 0) onNotes?.(outcome.notes)
        }
        return outcomes
      },
    })
  }

  /** Writes that failed inside the store. */
  get errors(): number {
    return this.#errors
  }

  get pending(): number {
    return this.#group.pending
  }

  /** Commits one write with its group. @throws StoreError, see QueueEngine */
  async write<K extends WriteKind>(kind: K, args: Writes[K]['args']): Promise<Writes[K]['result']> {
    // Kind and arguments are of one K, which the union cannot express.
    const outcome = await this.#group.submit({ kind, args } as WriteOp)
    if (!outcome.ok) {
      this.#errors += 1
      this.#onFailure()
      throw outcome.error
    }
    // By the port's contract the value is of the kind's result type.
    return outcome.value as Writes[K]['result']
  }

  drain(): Promise<void> {
    return this.#group.drain()
  }

  close(): Promise<void> {
    return this.#group.close()
  }
}
