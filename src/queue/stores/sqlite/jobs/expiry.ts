import type { QueueColumn } from '../../../metrics/columns.ts'
import type { QueueOptions } from '../../../model.ts'
import type { Writes } from '../../../store.ts'
import type { Context } from '../context.ts'
import { leaseLives } from '../cursors.ts'
import { query } from '../rows.ts'
import type { CursorRow, PartitionState } from '../state.ts'
import { SECOND_US } from '../state.ts'
import type { Trimmer } from './trim.ts'

type Args = Writes['jobStep']['args']
type Result = Writes['jobStep']['result']

/** Partitions whose oldest message one step looks at: about 2 ms. */
const PAGE = 500

/** Which positions of a partition a rule is about; `upTo` null = to the end. */
interface Span {
  readonly after: number
  readonly upTo: number | null
}

/** One of the rules of queue API 16 by which messages go. */
interface Rule {
  /** Age in seconds at which messages go; 0 = the queue does not use the rule. */
  readonly ageSeconds: (options: QueueOptions) => number
  /** null: nothing in this partition. */
  readonly span: (cursors: readonly CursorRow[], nowUs: number) => Span | null
  readonly counts: QueueColumn
}

export type ExpiryJob = 'retention' | 'completedRetention' | 'eviction'

function started(cursors: readonly CursorRow[]): readonly CursorRow[] {
  return cursors.filter((row) => row.started === 1)
}

/** What every group has consumed; null when there is no group. */
function lowest(cursors: readonly CursorRow[]): number | null {
  const used = started(cursors)
  return used.length === 0 ? null : Math.min(...used.map(({ position }) => position))
}

const RULES: Readonly<Record<ExpiryJob, Rule>> = {
  retention: {
    ageSeconds: (options) => (options.retentionEnabled ? options.retentionSeconds : 0),
    span: () => ({ after: 0, upTo: null }),
    counts: 'retentionMsgs',
  },
  completedRetention: {
    ageSeconds: (options) => (options.retentionEnabled ? options.completedRetentionSeconds : 0),
    span(cursors) {
      const upTo = lowest(cursors)
      return upTo === null ? null : { after: 0, upTo }
    },
    counts: 'completedRetentionMsgs',
  },
  eviction: {
    ageSeconds: (options) => options.maxWaitTimeSeconds,
    span(cursors, nowUs) {
      // What a consumer is working on does not wait any more.
      const leased = cursors
        .filter((row) => leaseLives(row, nowUs))
        .map((row) => row.lease_end ?? 0)
      return { after: Math.max(lowest(cursors) ?? 0, ...leased), upTo: null }
    },
    counts: 'evictionMsgs',
  },
}

interface Candidate {
  readonly id: number
  readonly oldest: number | null
}

/** Retention, completed retention and eviction, a few rows at a time. */
export class ExpiryDesk {
  readonly #context: Context
  readonly #trimmer: Trimmer
  readonly #queueIds
  readonly #page

  constructor(context: Context, trimmer: Trimmer) {
    this.#context = context
    this.#trimmer = trimmer
    this.#queueIds = query<{ id: number }>(
      context.db,
      `SELECT id FROM queue WHERE deleted = 0 AND
         (options ->> '$.retentionEnabled' = 1 OR options ->> '$.maxWaitTimeSeconds' > 0)`,
    )
    this.#page = query<Candidate>(
      context.db,
      `SELECT p.id, (SELECT m.created_at FROM message m
         WHERE m.partition_id = p.id AND m.position >= p.head ORDER BY m.position LIMIT 1) AS oldest
       FROM partition p WHERE p.queue_id = ? AND p.id > ? ORDER BY p.id LIMIT ?`,
    )
  }

  step(job: ExpiryJob, { after, limit, nowUs }: Args): Result {
    const rule = RULES[job]
    const page = this.#candidates(rule, after ?? 0)
    let deleted = 0
    for (const { id, oldest } of page) {
      const partition = oldest === null ? undefined : this.#context.partitions.byId(id)
      if (partition !== undefined && oldest !== null && oldest < cutoff(rule, partition, nowUs)) {
        deleted += this.#expire(rule, partition, limit - deleted, nowUs)
      }
      // The same partition may have more: the next step begins with it.
      if (deleted >= limit) return { deleted, next: id - 1 }
    }
    return { deleted, next: page.length < PAGE ? null : (page.at(-1)?.id ?? null) }
  }

  /** The next partitions, over all queues that use the rule, in the order of their ids. */
  #candidates(rule: Rule, after: number): readonly Candidate[] {
    return this.#queueIds
      .all()
      .filter(({ id }) => {
        const queue = this.#context.queues.byId(id)
        return queue !== undefined && rule.ageSeconds(queue.options) > 0
      })
      .flatMap(({ id }) => this.#page.all(id, after, PAGE))
      .sort((a, b) => a.id - b.id)
      .slice(0, PAGE)
  }

  #expire(rule: Rule, partition: PartitionState, limit: number, nowUs: number): number {
    const span = rule.span(this.#context.cursors.ofPartition(partition.id), nowUs)
    if (span === null) return 0
    const beforeUs = cutoff(rule, partition, nowUs)
    const old = this.#trimmer.olderThan(partition, span.after, beforeUs, limit)
    const upTo = span.upTo ?? Number.POSITIVE_INFINITY
    const rows = old.filter(({ position }) => position <= upTo)
    if (rows.length === 0) return 0
    this.#trimmer.remove(partition, rows, nowUs)
    this.#context.note(partition.queue, rule.counts, rows.length)
    this.#context.note(partition.queue, 'retentionEvents')
    return rows.length
  }
}

function cutoff(rule: Rule, partition: PartitionState, nowUs: number): number {
  return nowUs - rule.ageSeconds(partition.queue.options) * SECOND_US
}
