import type { DatabaseSync } from 'node:sqlite'
import type {
  BufferedPush,
  BufferState,
  OpsWrites,
  PushItem,
  PushResult,
  Writes,
} from '../../../store.ts'
import { type BufferColumns, type BufferedColumns, bufferState, keptOf } from '../../buffer-rows.ts'
import type { Appender } from '../append.ts'
import type { Context } from '../context.ts'
import { flagTable } from '../flags.ts'
import { change, query } from '../rows.ts'

function statements(db: DatabaseSync) {
  return {
    add: change(
      db,
      `INSERT INTO buffered_push (queue, partition, namespace, task, message_id, transaction_id,
         trace_id, producer_sub, encrypted, payload, buffered_at)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    ),
    ofPartition: query<{ seq: number }>(
      db,
      'SELECT seq FROM buffered_push WHERE queue = ? AND partition = ? AND failed = 0 LIMIT 1',
    ),
    first: query<BufferedColumns>(
      db,
      'SELECT * FROM buffered_push WHERE failed = 0 ORDER BY seq LIMIT ?',
    ),
    remove: change(db, 'DELETE FROM buffered_push WHERE failed = 0 AND seq <= ?'),
    setAside: change(
      db,
      `UPDATE buffered_push SET failed = 1
       WHERE seq = (SELECT min(seq) FROM buffered_push WHERE failed = 0)`,
    ),
    drop: change(
      db,
      'DELETE FROM buffered_push WHERE queue = ?1 AND (?2 IS NULL OR partition = ?2)',
    ),
  }
}

/**
 * Pushes on their way into the store or, during push maintenance, into the buffer. The choice is made inside
 * the commit, in the order in which switch, pushes and drain steps arrive, so that nothing slips between.
 */
export class PushGate {
  readonly #context: Context
  readonly #appender: Appender
  readonly #flags
  readonly #sql
  /** Whether pushes are diverted, and whether the buffer holds any; null = not read yet. */
  #diverting: boolean | null = null
  #waiting: boolean | null = null

  constructor(context: Context, appender: Appender) {
    this.#context = context
    this.#appender = appender
    this.#flags = flagTable(context.db)
    this.#sql = statements(context.db)
    context.onForget(() => {
      this.#diverting = null
      this.#waiting = null
    })
  }

  /** Stores or buffers the items; results in their order. Queue API 13.1. */
  push({ items, producerSub, nowUs }: Writes['push']['args']): Writes['push']['result'] {
    this.#diverting ??= this.#flags.all().pushMaintenance
    this.#waiting ??= this.#sql.first.one(1) !== undefined
    if (!this.#diverting && !this.#waiting) return this.#appender.append(items, producerSub, nowUs)
    const diverted = items.map((item) => this.#diverts(item))
    const direct = items.filter((_, at) => diverted[at] === false)
    const stored = this.#appender.append(direct, producerSub, nowUs)[Symbol.iterator]()
    return items.flatMap((item, at): (PushResult | BufferedPush)[] | PushResult | BufferedPush => {
      if (diverted[at] === true) return this.#buffer(item, producerSub, nowUs)
      return stored.next().value ?? []
    })
  }

  /** Sets a switch; the one for pushes counts from the next operation on. */
  setFlag(args: Writes['setFlag']['args']): Writes['setFlag']['result'] {
    const result = this.#flags.set(args)
    this.#diverting = null
    return result
  }

  /** One step of the replay; queue API 13.1: in arrival order, with the normal duplicate check. */
  drain({ limit, nowUs }: OpsWrites['drainBuffer']['args']): OpsWrites['drainBuffer']['result'] {
    this.#diverting ??= this.#flags.all().pushMaintenance
    if (this.#diverting) return { moved: 0, left: 0 }
    // One more than wanted tells whether something is left.
    const rows = this.#sql.first.all(limit + 1)
    const step = rows.slice(0, limit)
    this.#appender.replay(step.map(keptOf), nowUs)
    const last = step.at(-1)
    if (last !== undefined) this.#sql.remove(last.seq)
    this.#waiting = rows.length > step.length
    return { moved: step.length, left: rows.length - step.length }
  }

  /** Sets the first buffered push aside when it cannot be replayed. */
  skip(): OpsWrites['skipBuffered']['result'] {
    this.#waiting = null
    return { skipped: this.#sql.setAside() > 0 }
  }

  /** Takes away what waits for a queue, or for one partition of it, because that is deleted or cleared. */
  drop(queue: string, partition: string | null): number {
    this.#waiting = null
    return this.#sql.drop(queue, partition)
  }

  /** While the buffer drains only the partitions that still wait in it are diverted: nothing overtakes. */
  #diverts(item: PushItem): boolean {
    if (this.#diverting === true) return true
    return this.#sql.ofPartition.one(item.queue, item.partition) !== undefined
  }

  #buffer(item: PushItem, producerSub: string | null, nowUs: number): BufferedPush {
    const { queue, partition, namespace, task, traceId } = item
    const id = this.#context.ids.next(nowUs)
    const { encrypted, payload } = this.#appender.sealed(queue, item.payload)
    const transactionId = item.transactionId ?? id
    this.#sql.add(
      queue,
      partition,
      namespace,
      task,
      id,
      transactionId,
      traceId,
      producerSub,
      encrypted ? 1 : 0,
      payload,
      nowUs,
    )
    this.#waiting = true
    return { status: 'buffered', transactionId, messageId: id, partitionId: null }
  }
}

/** Reads of the buffer. */
export function bufferReader(db: DatabaseSync) {
  const state = query<BufferColumns>(
    db,
    `SELECT (SELECT count(*) FROM buffered_push WHERE failed = 0) AS pending,
       (SELECT count(*) FROM buffered_push WHERE failed = 1) AS failed,
       (SELECT buffered_at FROM buffered_push WHERE failed = 0 ORDER BY seq LIMIT 1) AS oldest`,
  )
  return {
    buffer: (): BufferState => bufferState(state.one()),
  }
}
