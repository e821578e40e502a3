import type { OpsWrites } from '../../../store-ops.ts'
import type { Context } from '../context.ts'
import { endLease } from '../cursors.ts'
import { change } from '../rows.ts'
import type { CursorRow, PartitionState } from '../state.ts'

type Args = OpsWrites['deleteMessage']['args']

/** Removes single messages on an operator's word. Queue API 10.3. */
export class MessageRemover {
  readonly #context: Context
  readonly #sql

  constructor(context: Context) {
    this.#context = context
    this.#sql = {
      message: change(context.db, 'DELETE FROM message WHERE partition_id = ? AND position = ?'),
      deadLetters: change(
        context.db,
        'DELETE FROM dead_letter WHERE partition_uuid = ? AND transaction_id = ?',
      ),
    }
  }

  /** Takes away every stored message of the address, and its dead letters. */
  delete({ partitionId, transactionId, nowUs }: Args): OpsWrites['deleteMessage']['result'] {
    const partition = this.#context.partitions.byUuid(partitionId)
    if (partition === undefined) return { deleted: false }
    const positions = this.#context.messages.positionsOf(partition, transactionId)
    for (const position of positions) this.#remove(partition, position, nowUs)
    const dead = this.#sql.deadLetters(partitionId, transactionId)
    if (dead > 0) this.#context.tally.queue(partition.queue.id, 'dead', -dead)
    return { deleted: positions.length > 0 || dead > 0 }
  }

  #remove(partition: PartitionState, position: number, nowUs: number): void {
    const { cursors, partitions, tally } = this.#context
    this.#sql.message(partition.id, position)
    partition.holes += 1
    partitions.saveTrim(partition)
    tally.queue(partition.queue.id, 'stored', -1)
    for (const row of cursors.ofPartition(partition.id)) {
      if (row.position >= position) tally.subscription(row.subscription_id, 'passed', -1)
      else if (row.lease_end !== null && position <= row.lease_end) {
        this.#shrinkLease(row, partition, nowUs)
      }
    }
  }

  /** The lease covered the message: it now ends with the last one that is left, or at once. */
  #shrinkLease(row: CursorRow, partition: PartitionState, nowUs: number): void {
    const last = this.#context.messages.lastUpTo(partition, row.lease_end ?? 0)
    row.lease_left = Math.max(0, row.lease_left - 1)
    if (last !== undefined && last.position > row.position) {
      row.lease_end = last.position
    } else {
      endLease(row)
      this.#context.rest(row, partition, nowUs)
    }
    this.#context.cursors.save(row)
  }
}
