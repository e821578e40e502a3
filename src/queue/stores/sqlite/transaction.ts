import type {
  AckItem,
  AckResult,
  TransactionOp,
  TransactionOutcome,
  TransactionResult,
  Writes,
} from '../../store.ts'
import { PushedResults } from '../transaction-results.ts'
import { type Acker, BAD_LEASE, NOT_FOUND } from './ack.ts'
import type { Appender } from './append.ts'
import type { Context } from './context.ts'
import { leaseLives } from './cursors.ts'
import type { LeaseDesk } from './leases.ts'
import { allOrNothing, Refused } from './savepoint.ts'

type Args = Writes['transaction']['args']
type AckOp = Extract<TransactionOp, { type: 'ack' }>

/** Push and ack together, all or nothing. Queue API 6.4. */
export class Transactor {
  readonly #context: Context
  readonly #parts: {
    readonly appender: Appender
    readonly acker: Acker
    readonly leases: LeaseDesk
  }

  constructor(
    context: Context,
    parts: { readonly appender: Appender; readonly acker: Acker; readonly leases: LeaseDesk },
  ) {
    this.#context = context
    this.#parts = parts
  }

  run(args: Args): TransactionOutcome {
    const attempt = allOrNothing(this.#context, () => this.#apply(args))
    return attempt.success ? { success: true, results: attempt.value } : attempt
  }

  #apply(args: Args): readonly TransactionResult[] {
    const { operations, requiredLeases, nowUs } = args
    for (const leaseId of requiredLeases) {
      if (this.#parts.leases.held(leaseId, nowUs).length === 0) throw new Refused(BAD_LEASE)
    }
    const results: TransactionResult[] = []
    this.#ack(args, results)
    this.#push(args, results)
    return operations.flatMap((_, index) => results[index] ?? [])
  }

  #push({ operations, producerSub, nowUs }: Args, results: TransactionResult[]): void {
    const indexes: number[] = []
    const items = operations.flatMap((op, index) => {
      if (op.type !== 'push') return []
      indexes.push(index)
      return op.item
    })
    const own = new PushedResults()
    const pushed = this.#parts.appender.append(items, producerSub, nowUs)
    pushed.forEach((result, i) => {
      const index = indexes[i]
      const item = items[i]
      if (index === undefined || item === undefined) return
      const answer = own.next(item.queue, result)
      if (typeof answer === 'string') throw new Refused(answer)
      results[index] = answer
    })
  }

  #ack(args: Args, results: TransactionResult[]): void {
    const byGroup = new Map<string, { items: AckItem[]; indexes: number[] }>()
    args.operations.forEach((op, index) => {
      if (op.type !== 'ack') return
      const entry = byGroup.get(op.group) ?? { items: [], indexes: [] }
      entry.items.push({ ...op.item, leaseId: this.#leaseOf(op, args) })
      entry.indexes.push(index)
      byGroup.set(op.group, entry)
    })
    for (const [group, { items, indexes }] of byGroup) {
      const answers = this.#parts.acker.ack(group, items, args.nowUs)
      answers.forEach((answer, i) => {
        const index = indexes[i]
        const transactionId = items[i]?.transactionId
        if (index === undefined || transactionId === undefined) return
        results[index] = { type: 'ack', transactionId, dlq: accepted(answer).dlq }
      })
    }
  }

  /**
   * The lease an ack is checked against: its own id; else the one required lease; else, with several,
   * the live lease of its (partition, group), which must be among them; else none.
   */
  #leaseOf(op: AckOp, { requiredLeases, nowUs }: Args): string | null {
    if (op.item.leaseId !== null) return op.item.leaseId
    const distinct = new Set(requiredLeases)
    if (distinct.size === 0) return null
    const [only] = distinct
    if (distinct.size === 1 && only !== undefined) return only
    const partition = this.#context.partitions.byUuid(op.item.partitionId)
    if (partition === undefined) throw new Refused(NOT_FOUND)
    const subscription = partition.queue.subscriptions.get(op.group)
    const row =
      subscription === undefined
        ? undefined
        : this.#context.cursors.get(partition.id, subscription.id)
    const live = row !== undefined && leaseLives(row, nowUs) ? row.lease_id : null
    if (live === null || !distinct.has(live)) throw new Refused(BAD_LEASE)
    return live
  }
}

function accepted(answer: AckResult): AckResult {
  if (!answer.success) throw new Refused(answer.error ?? NOT_FOUND)
  return answer
}
