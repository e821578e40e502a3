import type { GroupRow, LabelRow, OverviewFigures, QueueCounters, StatusFigures } from '../store.ts'
import { countsOf, type QueueFigures, spreadOf, sumCounts } from './figures.ts'

/** Errors that the status names, the most frequent first. */
export const TOP_ERRORS = 10

/** A live queue with its messages inside live leases. */
export interface LiveQueue extends QueueFigures {
  readonly processing: number
}

/** Adds a figure of some rows up. */
export function sumOf<T>(rows: readonly T[], pick: (row: T) => number): number {
  return rows.reduce((sum, row) => sum + pick(row), 0)
}

/** All queues as one. Queue API 9. */
export function overviewOf(
  queues: readonly LiveQueue[],
  groups: readonly GroupRow[],
): OverviewFigures {
  return {
    queues: queues.length,
    partitions: sumOf(queues, ({ partitions }) => partitions),
    namespaces: new Set(queues.map(({ namespace }) => namespace)).size,
    tasks: new Set(queues.map(({ task }) => task)).size,
    counts: sumCounts(queues.map((queue) => countsOf(queue, queue.processing))),
    timeLag: spreadOf(groups.map(({ maxTimeLagSeconds }) => maxTimeLagSeconds)),
    offsetLag: spreadOf(groups.map(({ totalLag }) => totalLag)),
  }
}

/** What the status reads beside the running totals. */
export interface StatusParts {
  /** Live leases, and the partitions that have one. */
  readonly leases: number
  readonly leasedPartitions: number
  /** Partitions with a dead letter. */
  readonly deadPartitions: number
  readonly topErrors: StatusFigures['deadLetters']['topErrors']
}

/** The stored figures of some queues. Queue API 11.1. */
export function statusOf(queues: readonly LiveQueue[], parts: StatusParts): StatusFigures {
  return {
    queues: queues.map(({ uuid, name, namespace, task, partitions, consumed }) => {
      return { id: uuid, name, namespace, task, partitions, totalConsumed: consumed }
    }),
    counts: sumCounts(queues.map((queue) => countsOf(queue, queue.processing))),
    leases: {
      active: parts.leases,
      partitionsWithLeases: parts.leasedPartitions,
      totalBatchSize: sumOf(queues, ({ processing }) => processing),
      totalAcked: sumOf(queues, ({ consumed }) => consumed),
    },
    deadLetters: {
      totalMessages: sumOf(queues, ({ dead }) => dead),
      affectedPartitions: parts.deadPartitions,
      topErrors: parts.topErrors,
    },
  }
}

/** How far one group is on one queue. */
export interface GroupLag {
  readonly queue_name: string
  readonly group_name: string
  readonly lag: number
  readonly consumed: number
}

/** What metrics show of each queue. Queue API 12. */
export function countersOf(
  queues: readonly LiveQueue[],
  lags: readonly GroupLag[],
): readonly QueueCounters[] {
  const groups = Map.groupBy(lags, ({ queue_name }) => queue_name)
  return queues.map((queue) => ({
    queue: queue.name,
    counts: countsOf(queue, queue.processing),
    pushed: queue.pushed,
    groups: (groups.get(queue.name) ?? []).map(({ group_name, lag, consumed }) => {
      return { group: group_name, lag, consumed }
    }),
  }))
}

/** Sums over the queues that share a label, by the label. Queue API 9. */
export function labelRows(
  queues: readonly QueueFigures[],
  pick: (queue: QueueFigures) => string,
): readonly LabelRow[] {
  const sums = new Map<string, LabelRow>()
  for (const queue of queues) {
    const label = pick(queue)
    const sum = sums.get(label)
    const { total, pending } = countsOf(queue, 0)
    sums.set(label, {
      label,
      queues: (sum?.queues ?? 0) + 1,
      partitions: (sum?.partitions ?? 0) + queue.partitions,
      total: (sum?.total ?? 0) + total,
      pending: (sum?.pending ?? 0) + pending,
    })
  }
  return [...sums.values()].sort((a, b) => (a.label < b.label ? -1 : 1))
}
