import { type AckDecision, decideAck, type SignalVerdict } from '../../engine/ack-rules.ts'
import type { AckItem, AckResult } from '../../store.ts'
import { startCursor } from './claim.ts'
import type { Context } from './context.ts'
import { endLease, leaseLives } from './cursors.ts'
import type { DeadLetterFile } from './dead-letters.ts'
import type { CursorRow, PartitionState } from './state.ts'
import type { SubscriptionTable } from './subscriptions.ts'

/** Error texts of queue API 6.1. */
export const NOT_FOUND = 'Message not found'
export const BAD_LEASE = 'invalid or expired lease'
const COMMITTED = 'already committed: the message is behind the cursor'

const FAILURE_TEXT: Readonly<Record<NonNullable<SignalVerdict['failure']>, string>> = {
  not_found: NOT_FOUND,
  committed: COMMITTED,
}

/** Acks of one (partition, lease id): one atomic step. Queue API 6.2. */
interface AckStep {
  readonly partitionId: string
  readonly leaseId: string | null
  readonly items: AckItem[]
  readonly indexes: number[]
}

function stepsOf(items: readonly AckItem[]): Iterable<AckStep> {
  const steps = new Map<string, AckStep>()
  items.forEach((item, index) => {
    const { partitionId, leaseId } = item
    const key = JSON.stringify([partitionId, leaseId])
    const step = steps.get(key) ?? { partitionId, leaseId, items: [], indexes: [] }
    step.items.push(item)
    step.indexes.push(index)
    steps.set(key, step)
  })
  return steps.values()
}

function refusal(error: string, partition: PartitionState | null): AckResult {
  return {
    success: false,
    error,
    leaseReleased: false,
    dlq: false,
    noop: false,
    queueName: partition?.queue.name ?? null,
    partitionName: partition?.name ?? null,
  }
}

/** The text of the first ack that speaks of the message given up. */
function errorOf(step: AckStep, decision: AckDecision): string | null {
  const index = decision.verdicts.findIndex((verdict) => verdict.dlq)
  return step.items[index]?.error ?? null
}

/** Acks: lease check, the cursor rules, and what they ask for. */
export class Acker {
  readonly #context: Context
  readonly #subscriptions: SubscriptionTable
  readonly #deadLetters: DeadLetterFile

  constructor(context: Context, subscriptions: SubscriptionTable, deadLetters: DeadLetterFile) {
    this.#context = context
    this.#subscriptions = subscriptions
    this.#deadLetters = deadLetters
  }

  /** Results in the order of the items; a failure of one step leaves the others alone. */
  ack(group: string, items: readonly AckItem[], nowUs: number): readonly AckResult[] {
    const results: AckResult[] = []
    for (const step of stepsOf(items)) {
      const answers = this.#step(group, step, nowUs)
      step.indexes.forEach((index, i) => {
        const answer = answers[i]
        if (answer !== undefined) results[index] = answer
      })
    }
    return results
  }

  #step(group: string, step: AckStep, nowUs: number): readonly AckResult[] {
    const partition = this.#context.partitions.byUuid(step.partitionId)
    if (partition === undefined) return step.items.map(() => refusal(NOT_FOUND, null))
    const leased =
      step.leaseId === null ? null : this.#leased(group, step.leaseId, partition, nowUs)
    if (step.leaseId !== null && leased === null) {
      return step.items.map(() => refusal(BAD_LEASE, partition))
    }
    const signals = step.items.map((item) => ({
      status: item.status,
      positions: this.#context.messages.positionsOf(partition, item.transactionId),
    }))
    if (signals.every(({ positions }) => positions.length === 0)) {
      return step.items.map(() => refusal(NOT_FOUND, partition))
    }
    const row = leased ?? this.#cursor(group, partition, nowUs)
    const { options } = partition.queue
    const policy = {
      retryLimit: options.retryLimit,
      deadLetter: options.deadLetterQueue || options.dlqAfterMaxRetries,
    }
    const cursor = {
      position: row.position,
      leaseEnd: this.#leaseEnd(row, partition),
      retryCount: row.retry_count,
    }
    const decision = decideAck(cursor, signals, policy)
    this.#apply(decision, { row, partition, group, error: errorOf(step, decision), nowUs })
    return decision.verdicts.map((verdict) => ({
      success: verdict.failure === null,
      error: verdict.failure === null ? null : FAILURE_TEXT[verdict.failure],
      leaseReleased: decision.leaseEnds,
      dlq: verdict.dlq,
      noop: verdict.noop,
      queueName: partition.queue.name,
      partitionName: partition.name,
    }))
  }

  /** The group's cursor, made if it has none: without a lease id an ack counts all the same. */
  #cursor(group: string, partition: PartitionState, nowUs: number): CursorRow {
    const subscription = this.#subscriptions.ensure(partition.queue, group)
    return this.#subscriptions.cursor(subscription, partition, nowUs)
  }

  /** The group's cursor when its live lease is this one. */
  #leased(
    group: string,
    leaseId: string,
    partition: PartitionState,
    nowUs: number,
  ): CursorRow | null {
    const subscription = partition.queue.subscriptions.get(group)
    if (subscription === undefined) return null
    const row = this.#context.cursors.get(partition.id, subscription.id)
    const fits = row !== undefined && row.lease_id === leaseId && leaseLives(row, nowUs)
    return fits ? row : null
  }

  /** The last leased position that still holds a message: what was removed can never be acked. */
  #leaseEnd(row: CursorRow, partition: PartitionState): number | null {
    if (row.lease_end === null) return null
    const whole = partition.holes === 0 && row.lease_end >= partition.head
    if (whole) return row.lease_end
    const last = this.#context.messages.lastUpTo(partition, row.lease_end)
    return Math.max(last?.position ?? 0, row.position)
  }

  #apply(
    decision: AckDecision,
    step: {
      readonly row: CursorRow
      readonly partition: PartitionState
      readonly group: string
      readonly error: string | null
      readonly nowUs: number
    },
  ): void {
    const { row, partition, group, error, nowUs } = step
    const moved = decision.position > row.position
    if (!moved && !decision.leaseEnds) return
    const { cursors, messages, tally } = this.#context
    const gone = decision.givenUp
    if (gone?.deadLetter === true) {
      const verdict = { group, error, retryCount: row.retry_count, nowUs }
      this.#deadLetters.file(partition, gone.position, verdict)
    }
    const passed = messages.count(partition, row.position, decision.position)
    // A message that was given up has been passed, but nobody consumed it.
    const consumed = gone === null ? passed : passed - 1
    startCursor(this.#context, row)
    row.position = decision.position
    row.retry_count = decision.retryCount
    row.lease_left = Math.max(0, row.lease_left - passed)
    if (decision.leaseEnds) endLease(row)
    if (row.lease_id === null) this.#context.rest(row, partition, nowUs)
    const failed = decision.failed ? 1 : 0
    const gain = { consumed, batches: decision.batchDone ? 1 : 0, failed }
    cursors.settle(row, gain, consumed > 0 ? nowUs : null)
    tally.subscription(row.subscription_id, 'passed', passed)
    tally.subscription(row.subscription_id, 'consumed', consumed)
    if (failed > 0) tally.subscription(row.subscription_id, 'failed', 1)
  }
}
