import type { DatabaseSync } from 'node:sqlite'
import { formatId, freshId, type IdMark, markOf } from '../../message-id.ts'
import type { QueueTable } from './queues.ts'
import { change, insert, query } from './rows.ts'
import type { PartitionState, QueueState } from './state.ts'

interface PartitionColumns {
  id: number
  uuid: string
  queue_id: number
  name: string
  created_at: number
  head: number
  holes: number
  next_floor: number
  stamp_floor: number
  id_floor: string | null
}

const COLUMNS =
  'id, uuid, queue_id, name, created_at, head, holes, next_floor, stamp_floor, id_floor'

/** About 40 MB of remembered partitions; beyond it all are forgotten and read again when needed. */
const MAX_REMEMBERED = 100_000

/** The newest message may have been removed: its id is then in the partition's own row. */
function highestMark(messageId: string | null, floor: string | null): IdMark {
  const highest = (messageId ?? '') > (floor ?? '') ? messageId : floor
  return highest === null ? { ms: 0, seq: 0 } : markOf(highest)
}

/** The partitions of live queues, remembered by name, by id and by uuid. */
export class PartitionTable {
  readonly #queues: QueueTable
  readonly #byName = new Map<string, PartitionState>()
  readonly #byUuid = new Map<string, PartitionState>()
  readonly #byId = new Map<number, PartitionState>()
  readonly #sql
  /** The items of one push mostly go to one partition. */
  #lastFound: PartitionState | undefined

  constructor(db: DatabaseSync, queues: QueueTable) {
    this.#queues = queues
    const select = `SELECT ${COLUMNS} FROM partition`
    this.#sql = {
      byName: query<PartitionColumns>(db, `${select} WHERE queue_id = ? AND name = ?`),
      byUuid: query<PartitionColumns>(db, `${select} WHERE uuid = ?`),
      byId: query<PartitionColumns>(db, `${select} WHERE id = ?`),
      page: query<{ id: number }>(
        db,
        'SELECT id FROM partition WHERE queue_id = ? AND id > ? ORDER BY id LIMIT ?',
      ),
      newest: query<{ id: number | null }>(
        db,
        'SELECT max(id) AS id FROM partition WHERE queue_id = ?',
      ),
      lastMessage: query<{ position: number; id: string; created_at: number }>(
        db,
        `SELECT position, id, created_at FROM message WHERE partition_id = ?
         ORDER BY position DESC LIMIT 1`,
      ),
      insert: insert(
        db,
        'INSERT INTO partition (uuid, queue_id, name, created_at) VALUES (?, ?, ?, ?)',
      ),
      trim: change(
        db,
        `UPDATE partition SET head = ?, holes = ?, next_floor = ?, stamp_floor = ?, id_floor = ?
         WHERE id = ?`,
      ),
    }
  }

  find(queue: QueueState, name: string): PartitionState | undefined {
    const last = this.#lastFound
    if (last?.queue === queue && last.name === name) return last
    const known = this.#byName.get(`${queue.id} ${name}`)
    const found = known ?? this.#remember(this.#sql.byName.one(queue.id, name))
    this.#lastFound = found
    return found
  }

  /** A partition of a live queue; nothing for text that is no partition id. */
  byUuid(uuid: string): PartitionState | undefined {
    return this.#byUuid.get(uuid) ?? this.#remember(this.#sql.byUuid.one(uuid))
  }

  byId(id: number): PartitionState | undefined {
    return this.#byId.get(id) ?? this.#remember(this.#sql.byId.one(id))
  }

  /** Up to `limit` partitions of a queue above an id, in the order of their making. */
  page(queue: QueueState, afterId: number, limit: number): readonly PartitionState[] {
    return this.#sql.page.all(queue.id, afterId, limit).flatMap(({ id }) => this.byId(id) ?? [])
  }

  /** The highest partition id of a queue; 0 when it has none. */
  newestId(queue: QueueState): number {
    return this.#sql.newest.one(queue.id)?.id ?? 0
  }

  create(queue: QueueState, name: string, nowUs: number): PartitionState {
    const uuid = freshId(Math.floor(nowUs / 1000))
    const id = this.#sql.insert(uuid, queue.id, name, nowUs)
    return this.#keep({
      id,
      uuid,
      name,
      queue,
      createdAtUs: nowUs,
      head: 1,
      holes: 0,
      next: 1,
      stampUs: 0,
      mark: { ms: 0, seq: 0 },
      allReady: false,
    })
  }

  /** Writes a raised head or a changed number of holes, with what must outlive the newest message. */
  saveTrim(partition: PartitionState): void {
    const { head, holes, next, stampUs, mark, id } = partition
    const lastId = mark.ms === 0 ? null : formatId(mark)
    this.#sql.trim(head, holes, next, stampUs, lastId, id)
  }

  /** Between batches only: inside one, two objects for one partition would disagree. */
  makeRoom(): void {
    if (this.#byId.size > MAX_REMEMBERED) this.forget()
  }

  forget(): void {
    this.#lastFound = undefined
    this.#byName.clear()
    this.#byUuid.clear()
    this.#byId.clear()
  }

  #remember(row: PartitionColumns | undefined): PartitionState | undefined {
    if (row === undefined) return undefined
    const queue = this.#queues.byId(row.queue_id)
    if (queue === undefined) return undefined
    const last = this.#sql.lastMessage.one(row.id)
    return this.#keep({
      id: row.id,
      uuid: row.uuid,
      name: row.name,
      queue,
      createdAtUs: row.created_at,
      head: row.head,
      holes: row.holes,
      next: Math.max(row.next_floor, (last?.position ?? 0) + 1),
      stampUs: Math.max(row.stamp_floor, last?.created_at ?? 0),
      mark: highestMark(last?.id ?? null, row.id_floor),
      allReady: false,
    })
  }

  #keep(partition: PartitionState): PartitionState {
    this.#lastFound = undefined
    this.#byName.set(`${partition.queue.id} ${partition.name}`, partition)
    this.#byUuid.set(partition.uuid, partition)
    this.#byId.set(partition.id, partition)
    return partition
  }
}
