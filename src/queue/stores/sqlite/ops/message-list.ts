import type { DatabaseSync } from 'node:sqlite'
import { statusRuns } from '../../../message-status.ts'
import type { MessageFilter } from '../../../store-ops.ts'
import { viewOf } from '../../message-views.ts'
import { query } from '../rows.ts'
import type { ConsumerReader } from './consumers.ts'
import { firstMadeFrom, type PartitionHead } from './partition-heads.ts'

/** Where a message of the page stands. */
export interface Place {
  readonly partition: PartitionHead
  readonly position: number
  readonly id: string
  readonly createdAtUs: number
}

/** Positions from `from` to `to`, both included. */
interface Run {
  readonly from: number
  readonly to: number
}

/** What of one partition matches a filter: runs of positions, lowest first, without the `except` ones. */
interface Match {
  readonly runs: readonly Run[]
  readonly except: ReadonlySet<number>
}

const NONE: ReadonlySet<number> = new Set()

function newestFirst(a: Place, b: Place): number {
  if (a.createdAtUs !== b.createdAtUs) return b.createdAtUs - a.createdAtUs
  return a.id < b.id ? 1 : -1
}

/** The newest places seen so far, as many as a page can reach; older ones are dropped as it goes. */
class Page {
  readonly #most: number
  #places: Place[] = []
  /** Nothing older can come onto the page any more. */
  floorUs = Number.NEGATIVE_INFINITY

  constructor(most: number) {
    this.#most = most
  }

  add(place: Place): void {
    this.#places.push(place)
    if (this.#places.length >= 2 * this.#most + 1) this.#cut()
  }

  rows(offset: number): readonly Place[] {
    this.#cut()
    return this.#places.slice(offset)
  }

  #cut(): void {
    this.#places.sort(newestFirst)
    this.#places.length = Math.min(this.#places.length, this.#most)
    const last = this.#places[this.#most - 1]
    if (last !== undefined) this.floorUs = last.createdAtUs
  }
}

/**
 * Finds the messages of a filter. Bounds in time become bounds in position by halving, and a status becomes
 * runs of positions, so that only the messages of the page are read, however many are stored.
 */
export class MessageLister {
  readonly #consumersOf: ConsumerReader
  readonly #firstFrom
  readonly #sql

  constructor(db: DatabaseSync, consumersOf: ConsumerReader) {
    this.#consumersOf = consumersOf
    this.#firstFrom = firstMadeFrom(db)
    this.#sql = {
      newest: query<{ position: number; created_at: number }>(
        db,
        `SELECT position, created_at FROM message WHERE partition_id = ? AND position >= ?
         ORDER BY position DESC LIMIT 1`,
      ),
      countIn: query<{ n: number }>(
        db,
        'SELECT count(*) AS n FROM message WHERE partition_id = ? AND position BETWEEN ? AND ?',
      ),
      downwards: query<{ position: number; id: string; created_at: number }>(
        db,
        `SELECT position, id, created_at FROM message
         WHERE partition_id = ? AND position BETWEEN ? AND ? ORDER BY position DESC LIMIT ?`,
      ),
      dead: query<{ position: number }>(
        db,
        `SELECT m.position FROM dead_letter d
         JOIN message m ON m.partition_id = d.partition_id
           AND m.transaction_id = d.transaction_id AND m.id = d.message_id
         WHERE d.partition_uuid = ?`,
      ),
    }
  }

  /** The places of the page, newest first, and how many messages match in all. */
  list(
    partitions: readonly PartitionHead[],
    filter: MessageFilter,
  ): { readonly places: readonly Place[]; readonly total: number } {
    const most = filter.offset + filter.limit
    const page = new Page(most)
    let total = 0
    for (const partition of partitions) {
      const match = this.#matchOf(partition, filter)
      total += this.#count(partition, match)
      if (most > 0) this.#collect(partition, match, page, most)
    }
    return { places: page.rows(filter.offset), total }
  }

  /** The positions whose message was made in the span of the filter. */
  #bounds(partition: PartitionHead, { fromUs, toUs }: MessageFilter): Run | undefined {
    const last = this.#sql.newest.one(partition.id, partition.head)
    if (last === undefined) return undefined
    if (fromUs !== null && last.created_at < fromUs) return undefined
    const from = fromUs === null ? partition.head : this.#firstFrom(partition, fromUs)
    const whole = toUs === null || last.created_at <= toUs
    const to = whole ? last.position : this.#firstFrom(partition, toUs + 1) - 1
    return from <= to ? { from, to } : undefined
  }

  #matchOf(partition: PartitionHead, filter: MessageFilter): Match {
    const all = this.#bounds(partition, filter)
    if (all === undefined) return { runs: [], except: NONE }
    const { status: wanted } = filter
    if (wanted === null) return { runs: [all], except: NONE }
    const dead = this.#deadPositions(partition)
    if (wanted === 'dead_letter') {
      const runs = [...dead]
        .filter((position) => all.from <= position && position <= all.to)
        .toSorted((a, b) => a - b)
        .map((position) => ({ from: position, to: position }))
      return { runs, except: NONE }
    }
    const view = viewOf(this.#consumersOf(partition, filter.nowUs))
    const runs = statusRuns(view, all.from, all.to).filter(({ status }) => status === wanted)
    return { runs, except: dead }
  }

  #deadPositions(partition: PartitionHead): ReadonlySet<number> {
    return new Set(this.#sql.dead.all(partition.uuid).map(({ position }) => position))
  }

  #count(partition: PartitionHead, { runs, except }: Match): number {
    const stored = runs.reduce((sum, { from, to }) => {
      if (partition.holes === 0) return sum + to - from + 1
      return sum + (this.#sql.countIn.one(partition.id, from, to)?.n ?? 0)
    }, 0)
    const inside = (at: number) => runs.some(({ from, to }) => from <= at && at <= to)
    return stored - [...except].filter(inside).length
  }

  #collect(partition: PartitionHead, { runs, except }: Match, page: Page, most: number): void {
    let left = most
    for (const { from, to } of runs.toReversed()) {
      if (left <= 0) return
      for (const row of this.#sql.downwards.all(partition.id, from, to, left + except.size)) {
        if (row.created_at < page.floorUs) return
        if (except.has(row.position)) continue
        page.add({ partition, position: row.position, id: row.id, createdAtUs: row.created_at })
        left -= 1
      }
    }
  }
}
