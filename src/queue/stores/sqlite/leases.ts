import type { Writes } from '../../store.ts'
import type { Context } from './context.ts'
import { type CursorGain, endLease, leaseLives } from './cursors.ts'
import { query } from './rows.ts'
import type { CursorRow, PartitionState } from './state.ts'
import { SECOND_US } from './state.ts'

type Result<K extends keyof Writes> = Writes[K]['result']
type Args<K extends keyof Writes> = Writes[K]['args']

const NO_GAIN: CursorGain = { consumed: 0, batches: 0, failed: 0 }

interface Held {
  readonly row: CursorRow
  readonly partition: PartitionState
}

/** Leases outside pop and ack: extension, giving back, and who holds what. */
export class LeaseDesk {
  readonly #context: Context
  readonly #subscriptionLives

  constructor(context: Context) {
    this.#context = context
    this.#subscriptionLives = query<{ id: number }>(
      context.db,
      'SELECT id FROM subscription WHERE id = ?',
    )
  }

  /** The cursors that a lease id holds now; those of deleted groups and queues do not count. */
  held(leaseId: string, nowUs: number): readonly Held[] {
    return this.#context.cursors.byLease(leaseId).flatMap((row) => {
      const partition = this.#context.partitions.byId(row.partition_id)
      const known = this.#subscriptionLives.one(row.subscription_id) !== undefined
      return partition !== undefined && known && leaseLives(row, nowUs) ? { row, partition } : []
    })
  }

  /** Never shortens a lease. Queue API 6.3. */
  extend({ leaseId, seconds, nowUs }: Args<'extend'>): Result<'extend'> {
    let expiresAtUs: number | null = null
    const held = this.held(leaseId, nowUs)
    for (const { row, partition } of held) {
      const untilUs = Math.max(row.lease_until ?? 0, nowUs + seconds * SECOND_US)
      row.lease_until = untilUs
      row.ready_at = untilUs
      this.#context.cursors.save(row)
      this.#context.wake(partition.queue, untilUs)
      expiresAtUs = expiresAtUs === null ? untilUs : Math.min(expiresAtUs, untilUs)
    }
    return { renewed: held.length, expiresAtUs }
  }

  /** Undoes the claims of a pop whose client has gone. */
  release({ group, leaseId, claims, nowUs }: Args<'release'>): Result<'release'> {
    let released = 0
    for (const { partitionId, after, upTo } of claims) {
      const partition = this.#context.partitions.byUuid(partitionId)
      const subscription = partition?.queue.subscriptions.get(group)
      if (partition === undefined || subscription === undefined) continue
      const row = this.#context.cursors.get(partition.id, subscription.id)
      if (row === undefined) continue
      const gain = leaseId === '' ? this.#stepBack(row, partition, after, upTo) : NO_GAIN
      if (gain === null || (leaseId !== '' && row.lease_id !== leaseId)) continue
      endLease(row)
      this.#context.rest(row, partition, nowUs)
      this.#context.cursors.settle(row, gain, null)
      released += 1
    }
    return { released }
  }

  /** An autoAck pop has moved the cursor; it goes back if it still stands there, free. */
  #stepBack(
    row: CursorRow,
    partition: PartitionState,
    after: number,
    upTo: number,
  ): CursorGain | null {
    if (row.position !== upTo || row.lease_id !== null) return null
    const { messages, tally } = this.#context
    const count = messages.count(partition, after, upTo)
    row.position = after
    tally.subscription(row.subscription_id, 'passed', -count)
    tally.subscription(row.subscription_id, 'consumed', -count)
    return { consumed: -count, batches: -1, failed: 0 }
  }
}
