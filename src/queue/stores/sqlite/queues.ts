import type { DatabaseSync } from 'node:sqlite'
import { freshId } from '../../message-id.ts'
import { DEFAULT_OPTIONS, type QueueOptions } from '../../model.ts'
import { change, insert, query } from './rows.ts'
import type { QueueState, SubscriptionState } from './state.ts'

interface QueueColumns {
  id: number
  uuid: string
  name: string
  namespace: string
  task: string
  options: string
  created_at: number
  ghosts_until: number
}

interface SubscriptionColumns {
  id: number
  queue_name: string
  group_name: string
  mode: 'all' | 'new' | 'timestamp' | null
  start_at: number | null
  born_after: number
  swept_to: number
  swept_all: number
}

const QUEUE_COLUMNS = 'id, uuid, name, namespace, task, options, created_at, ghosts_until'
const SUBSCRIPTION_COLUMNS =
  'id, queue_name, group_name, mode, start_at, born_after, swept_to, swept_all'

const LIVE_NAMES = 'SELECT name FROM queue WHERE deleted = 0'

/** What is needed to make a queue. */
export interface NewQueue {
  readonly name: string
  readonly namespace: string
  readonly task: string
  readonly options: QueueOptions
}

/** Turns a row of `subscription` into what the writing thread keeps. */
function subscriptionState(row: SubscriptionColumns): SubscriptionState {
  return {
    id: row.id,
    group: row.group_name,
    queueName: row.queue_name,
    mode: row.mode,
    startAtUs: row.start_at,
    bornAfter: row.born_after,
    sweptTo: row.swept_to,
    sweptAll: row.swept_all === 1,
  }
}

/** The live queues with their subscriptions, remembered by name and by id. */
export class QueueTable {
  readonly #byName = new Map<string, QueueState>()
  readonly #byId = new Map<number, QueueState>()
  readonly #sql

  constructor(db: DatabaseSync) {
    this.#sql = {
      byName: query<QueueColumns>(
        db,
        `SELECT ${QUEUE_COLUMNS} FROM queue WHERE name = ? AND deleted = 0`,
      ),
      byId: query<QueueColumns>(
        db,
        `SELECT ${QUEUE_COLUMNS} FROM queue WHERE id = ? AND deleted = 0`,
      ),
      inNamespace: query<{ name: string }>(db, `${LIVE_NAMES} AND namespace = ?`),
      ofTask: query<{ name: string }>(db, `${LIVE_NAMES} AND task = ?`),
      ofBoth: query<{ name: string }>(db, `${LIVE_NAMES} AND namespace = ? AND task = ?`),
      subscriptions: query<SubscriptionColumns>(
        db,
        `SELECT ${SUBSCRIPTION_COLUMNS} FROM subscription WHERE queue_name = ?`,
      ),
      insert: insert(
        db,
        `INSERT INTO queue (uuid, name, namespace, task, priority, options, created_at)
         VALUES (?, ?, ?, ?, ?, ?, ?)`,
      ),
      update: change(
        db,
        'UPDATE queue SET namespace = ?, task = ?, priority = ?, options = ? WHERE id = ?',
      ),
      remove: change(db, 'UPDATE queue SET deleted = 1 WHERE id = ?'),
      // A new queue has no partitions yet: its groups lack no cursor.
      adopt: change(db, 'UPDATE subscription SET queue_id = ?, swept_all = 1 WHERE queue_name = ?'),
    }
  }

  byName(name: string): QueueState | undefined {
    return this.#byName.get(name) ?? this.#remember(this.#sql.byName.one(name))
  }

  byId(id: number): QueueState | undefined {
    return this.#byId.get(id) ?? this.#remember(this.#sql.byId.one(id))
  }

  /** Live queues of a namespace and task; null matches any, but one of them is given. */
  matching(namespace: string | null, task: string | null): readonly QueueState[] {
    return this.#matchingNames(namespace, task).flatMap(({ name }) => this.byName(name) ?? [])
  }

  /** Makes a queue; groups that came before it are waiting by its name. */
  create({ name, namespace, task, options }: NewQueue, nowUs: number): QueueState {
    const uuid = freshId(Math.floor(nowUs / 1000))
    const text = JSON.stringify(options)
    const id = this.#sql.insert(uuid, name, namespace, task, options.priority, text, nowUs)
    this.#sql.adopt(id, name)
    const row = { id, uuid, name, namespace, task, options: text, created_at: nowUs }
    return this.#keep({ ...row, ghosts_until: 0 })
  }

  /** Writes changed labels and options. */
  save(queue: QueueState): void {
    const { namespace, task, options, id } = queue
    this.#sql.update(namespace, task, options.priority, JSON.stringify(options), id)
  }

  /** Takes the queue out of sight; the caller forgets everything that hangs on it. */
  remove(queue: QueueState): void {
    this.#sql.remove(queue.id)
  }

  forget(): void {
    this.#byName.clear()
    this.#byId.clear()
  }

  #matchingNames(namespace: string | null, task: string | null): { readonly name: string }[] {
    const { inNamespace, ofTask, ofBoth } = this.#sql
    if (namespace !== null && task !== null) return ofBoth.all(namespace, task)
    if (namespace !== null) return inNamespace.all(namespace)
    return task === null ? [] : ofTask.all(task)
  }

  #remember(row: QueueColumns | undefined): QueueState | undefined {
    return row === undefined ? undefined : this.#keep(row)
  }

  #keep(row: QueueColumns): QueueState {
    const groups = this.#sql.subscriptions.all(row.name).map(subscriptionState)
    const stored: Partial<QueueOptions> = JSON.parse(row.options)
    const queue: QueueState = {
      id: row.id,
      uuid: row.uuid,
      name: row.name,
      namespace: row.namespace,
      task: row.task,
      options: { ...DEFAULT_OPTIONS, ...stored },
      createdAtUs: row.created_at,
      ghostsUntilUs: row.ghosts_until,
      subscriptions: new Map(groups.map((group) => [group.group, group])),
    }
    this.#byName.set(row.name, queue)
    this.#byId.set(row.id, queue)
    return queue
  }
}
