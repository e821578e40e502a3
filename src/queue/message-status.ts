import type { MessageStatus } from './store-ops.ts'

/** How far one group is on one partition. */
export interface ConsumerView {
  /** Everything at or below has been consumed. */
  readonly position: number
  /** Last position of its live lease; null without one. The lease begins behind `position`. */
  readonly leaseEnd: number | null
}

/** All consumers of one partition; `queueMode` is null when nobody consumes without a group. */
export interface PartitionView {
  readonly queueMode: ConsumerView | null
  readonly groups: readonly ConsumerView[]
}

/** A run of positions, both ends included, whose messages share a status unless they are dead letters. */
export interface StatusRun {
  readonly from: number
  readonly to: number
  readonly status: Exclude<MessageStatus, 'dead_letter'>
}

/**
 * The highest position that counts as completed. Queue API 10.1: consumption without a group decides
 * alone where it is used; else all groups must have passed; with no consumer at all nothing is completed.
 */
export function completedUpTo({ queueMode, groups }: PartitionView): number {
  if (queueMode !== null) return queueMode.position
  if (groups.length === 0) return 0
  return Math.min(...groups.map((group) => group.position))
}

function inLease(consumer: ConsumerView, position: number): boolean {
  return consumer.leaseEnd !== null && consumer.position < position && position <= consumer.leaseEnd
}

/** Status of one message; the first rule that matches, in the order of queue API 10.1. */
export function statusAt(view: PartitionView, position: number, dead: boolean): MessageStatus {
  if (dead) return 'dead_letter'
  if (position <= completedUpTo(view)) return 'completed'
  const consumers = view.queueMode === null ? view.groups : [view.queueMode, ...view.groups]
  return consumers.some((consumer) => inLease(consumer, position)) ? 'processing' : 'pending'
}

/**
 * Cuts the positions from `first` to `last` into runs of one status, lowest first: what a listing by
 * status reads instead of every message.
 */
export function statusRuns(view: PartitionView, first: number, last: number): readonly StatusRun[] {
  const consumers = view.queueMode === null ? view.groups : [view.queueMode, ...view.groups]
  const ends = [
    completedUpTo(view),
    ...consumers.flatMap(({ position, leaseEnd }) =>
      leaseEnd === null ? [] : [position, leaseEnd],
    ),
    last,
  ]
  const cuts = [...new Set(ends)]
    .filter((end) => end >= first && end <= last)
    .toSorted((a, b) => a - b)
  const runs: StatusRun[] = []
  let from = first
  for (const to of cuts) {
    const status = statusAt(view, to, false)
    const before = runs.at(-1)
    if (status !== 'dead_letter') {
      if (before?.status === status) runs[runs.length - 1] = { ...before, to }
      else runs.push({ from, to, status })
    }
    from = to + 1
  }
  return runs
}
