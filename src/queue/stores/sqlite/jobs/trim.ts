import type { Context } from '../context.ts'
import { endLease } from '../cursors.ts'
import { change, query } from '../rows.ts'
import type { CursorRow, PartitionState, QueueState } from '../state.ts'
import { SECOND_US } from '../state.ts'

/** A stored message as far as its removal needs it. */
export interface OldMessage {
  readonly position: number
  readonly transaction_id: string
  readonly id: string
  readonly created_at: number
}

/** Removes neighbouring messages of a partition and keeps everything that counts them in step. */
export class Trimmer {
  readonly #context: Context
  readonly #sql

  constructor(context: Context) {
    this.#context = context
    const { db } = context
    this.#sql = {
      slice: query<OldMessage>(
        db,
        `SELECT position, transaction_id, id, created_at FROM message
         WHERE partition_id = ? AND position > ? ORDER BY position LIMIT ?`,
      ),
      remove: change(
        db,
        'DELETE FROM message WHERE partition_id = ? AND position >= ? AND position <= ?',
      ),
      ghost: change(
        db,
        `INSERT OR REPLACE INTO ghost
           (partition_id, transaction_id, message_id, created_at, expires_at)
         VALUES (?, ?, ?, ?, ?)`,
      ),
      ghostsUntil: change(db, 'UPDATE queue SET ghosts_until = max(ghosts_until, ?) WHERE id = ?'),
    }
  }

  /** Messages above a position that were made before a moment; times rise, so the first young one ends it. */
  olderThan(
    partition: PartitionState,
    after: number,
    beforeUs: number,
    limit: number,
  ): readonly OldMessage[] {
    const from = Math.max(after, partition.head - 1)
    const rows = this.#sql.slice.all(partition.id, from, limit)
    const young = rows.findIndex((row) => row.created_at >= beforeUs)
    return young === -1 ? rows : rows.slice(0, young)
  }

  /** `rows` stand next to each other in the partition, in order. */
  remove(partition: PartitionState, rows: readonly OldMessage[], nowUs: number): void {
    const first = rows[0]?.position
    const last = rows.at(-1)?.position
    if (first === undefined || last === undefined) return
    const { messages, partitions, tally } = this.#context
    const isFront = messages.firstFrom(partition, partition.head)?.position === first
    this.#remember(partition, rows, nowUs)
    for (const row of this.#context.cursors.ofPartition(partition.id)) {
      const passed = rows.filter(({ position }) => position <= row.position).length
      if (passed > 0) tally.subscription(row.subscription_id, 'passed', -passed)
    }
    this.#sql.remove(partition.id, first, last)
    if (isFront) this.#raiseHead(partition, last, rows.length)
    else partition.holes += rows.length
    partitions.saveTrim(partition)
    tally.queue(partition.queue.id, 'stored', -rows.length)
    for (const row of this.#context.cursors.ofPartition(partition.id)) {
      this.#shrinkLease(row, partition, nowUs)
    }
  }

  /** Everything before the next stored message is gone, holes included. */
  #raiseHead(partition: PartitionState, last: number, removed: number): void {
    const next = this.#context.messages.firstFrom(partition, last + 1)
    const head = next?.position ?? partition.next
    partition.holes -= head - partition.head - removed
    partition.head = head
  }

  /** Transaction ids still count in the duplicate check until their window ends. Queue API 3.5. */
  #remember(partition: PartitionState, rows: readonly OldMessage[], nowUs: number): void {
    const { queue } = partition
    const windowUs = queue.options.dedupWindowSeconds * SECOND_US
    const counting = rows.filter((row) => row.created_at + windowUs > nowUs)
    let untilUs = 0
    for (const row of counting) {
      const expiresAt = row.created_at + windowUs
      this.#sql.ghost(partition.id, row.transaction_id, row.id, row.created_at, expiresAt)
      untilUs = Math.max(untilUs, expiresAt)
    }
    if (untilUs > queue.ghostsUntilUs) this.#extendGhosts(queue, untilUs)
  }

  #extendGhosts(queue: QueueState, untilUs: number): void {
    queue.ghostsUntilUs = untilUs
    this.#sql.ghostsUntil(untilUs, queue.id)
  }

  /** A lease over messages that are gone ends when nothing of its span is left. */
  #shrinkLease(row: CursorRow, partition: PartitionState, nowUs: number): void {
    if (row.lease_id === null || row.lease_end === null) return
    const left = this.#context.messages.count(partition, row.position, row.lease_end)
    if (left === row.lease_left) return
    row.lease_left = left
    if (left === 0) {
      endLease(row)
      this.#context.rest(row, partition, nowUs)
    }
    this.#context.cursors.save(row)
  }
}
