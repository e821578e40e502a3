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

/** Sends writes to the store in groups, lane by lane, and hands on the wakes they cause. */
export class Writer {
  readonly #groups = new Map<string, GroupCommit<WriteOp, WriteOutcome>>()
  readonly #open: () => GroupCommit<WriteOp, WriteOutcome>
  readonly #laneOf: (kind: WriteKind) => string
  readonly #onFailure: () => void
  #errors = 0
  #closed = false

  constructor(options: WriterOptions) {
    const { store, onWakes, onNotes, onBatch } = options
    this.#onFailure = options.onFailure ?? (() => {})
    this.#laneOf = store.laneOf ?? (() => '')
    const commit = async (batch: readonly WriteOp[]): Promise<readonly WriteOutcome[]> => {
      const outcomes = await store.commit(batch)
      for (const outcome of outcomes) {
        if (outcome.ok && outcome.wakes.length > 0) onWakes(outcome.wakes)
        if (outcome.ok && outcome.notes.length > 0) onNotes?.(outcome.notes)
      }
      return outcomes
    }
    const { maxWaitingWrites: maxWaiting, maxWaitingBytes } = options
    const limits = {
      ...(maxWaiting === undefined ? {} : { maxWaiting }),
      ...(maxWaitingBytes === undefined ? {} : { maxWaitingBytes }),
      ...(onBatch === undefined ? {} : { onBatch }),
    }
    this.#open = () => {
      const { inHalves = false } = store
      const group = new GroupCommit<WriteOp, WriteOutcome>({ sizeOf, ...limits, inHalves, commit })
      if (this.#closed) void group.close()
      return group
    }
  }

  /** Writes that failed inside the store. */
  get errors(): number {
    return this.#errors
  }

  get pending(): number {
    return [...this.#groups.values()].reduce((sum, { pending }) => sum + pending, 0)
  }

  /** Commits one write with its group. @throws StoreError, see QueueEngine */
  write<K extends WriteKind>(kind: K, args: Writes[K]['args']): Promise<Writes[K]['result']> {
    // Kind and arguments are of one K, which the union cannot express.
    const op = { kind, args } as WriteOp
    return this.#group(kind).submit(op).then(this.#valueOf) as Promise<Writes[K]['result']>
  }

  /** By the port's contract the value is of the kind's result type. */
  readonly #valueOf = (outcome: WriteOutcome): unknown => {
    if (outcome.ok) return outcome.value
    this.#errors += 1
    this.#onFailure()
    throw outcome.error
  }

  async drain(): Promise<void> {
    // An answer may cause a write in another lane.
    while (this.pending > 0) {
      await Promise.all([...this.#groups.values()].map((group) => group.drain()))
    }
  }

  async close(): Promise<void> {
    this.#closed = true
    await Promise.all([...this.#groups.values()].map((group) => group.close()))
  }

  #group(kind: WriteKind): GroupCommit<WriteOp, WriteOutcome> {
    const lane = this.#laneOf(kind)
    const known = this.#groups.get(lane)
    if (known !== undefined) return known
    const made = this.#open()
    this.#groups.set(lane, made)
    return made
  }
}
