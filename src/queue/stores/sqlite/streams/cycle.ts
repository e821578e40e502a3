import type { CycleAck, CycleArgs, CycleOutcome } from '../../../store-streams.ts'
import { type Acker, NOT_FOUND } from '../ack.ts'
import type { Appender } from '../append.ts'
import type { Context } from '../context.ts'
import { endLease } from '../cursors.ts'
import { allOrNothing, Refused } from '../savepoint.ts'
import type { CursorRow, PartitionState } from '../state.ts'
import type { stateWriter } from './state.ts'

const NO_QUERY = 'unknown query_id'
const NO_PARTITION = 'unknown partition_id'

/** What a cycle is made of. */
export interface CyclerParts {
  readonly appender: Appender
  readonly acker: Acker
  readonly state: ReturnType<typeof stateWriter>
}

/** One step of a stream: state, sink pushes and source ack, all or nothing. Queue API 15.3. */
export class Cycler {
  readonly #context: Context
  readonly #parts: CyclerParts

  constructor(context: Context, parts: CyclerParts) {
    this.#context = context
    this.#parts = parts
  }

  run(args: CycleArgs): CycleOutcome {
    const query = this.#parts.state.find(args.queryId)
    const partition = this.#context.partitions.byUuid(args.partitionId)
    const queueName = partition?.queue.name ?? query?.sourceQueue ?? null
    if (query === undefined) return { success: false, queueName, error: NO_QUERY }
    if (partition === undefined) return { success: false, queueName, error: NO_PARTITION }
    const attempt = allOrNothing(this.#context, () => {
      for (const op of args.stateOps) {
        this.#parts.state.apply(query.id, args.partitionId, op, args.nowUs)
      }
      const leaseReleased = args.ack !== null && this.#ack(args, args.ack, partition)
      const { pushItems, producerSub, nowUs } = args
      return { leaseReleased, pushes: this.#parts.appender.append(pushItems, producerSub, nowUs) }
    })
    if (!attempt.success) return { ...attempt, queueName }
    return { success: true, queueName, ...attempt.value }
  }

  /** Acks and answers whether the lease has ended. A failed cycle gives the lease back and moves nothing. */
  #ack(args: CycleArgs, ack: CycleAck, partition: PartitionState): boolean {
    const before = this.#cursor(args.group, partition)
    const item = {
      transactionId: ack.transactionId,
      partitionId: args.partitionId,
      status: ack.status === 'completed' ? ('completed' as const) : ('retry' as const),
      error: null,
      leaseId: ack.leaseId,
    }
    const [result] = this.#parts.acker.ack(args.group, [item], args.nowUs)
    if (result === undefined || !result.success) throw new Refused(result?.error ?? NOT_FOUND)
    const after = this.#cursor(args.group, partition)
    if (ack.status === 'failed' || before === undefined || after === undefined) {
      return result.leaseReleased
    }
    if (args.releaseLease) return this.#release(after, partition, args.nowUs)
    this.#keep(before, after)
    return false
  }

  /** The whole batch is done with, also when the acked message was not its last. */
  #release(row: CursorRow, partition: PartitionState, nowUs: number): boolean {
    if (row.lease_id === null) return true
    endLease(row)
    this.#context.rest(row, partition, nowUs)
    this.#context.cursors.save(row)
    return true
  }

  /**
   * A gate lets only a part through and holds the rest back: the lease stays until it runs out, also when
   * the acked message was the last of the batch, so that the group gets nothing from behind it before.
   */
  #keep(before: CursorRow, after: CursorRow): void {
    if (before.lease_id === null || after.lease_id !== null) return
    after.lease_id = before.lease_id
    after.lease_until = before.lease_until
    after.lease_end = before.lease_end
    after.ready_at = before.lease_until
    this.#context.cursors.save(after)
  }

  #cursor(group: string, partition: PartitionState): CursorRow | undefined {
    const subscription = partition.queue.subscriptions.get(group)
    return subscription && this.#context.cursors.get(partition.id, subscription.id)
  }
}
