import type { DatabaseSync } from 'node:sqlite'
import type { PayloadCipher } from '../../../cipher.ts'
import { DEFAULT_OPTIONS, type QueueOptions } from '../../../model.ts'
import type { ConsumerMode, MessageDetail, MessageFilter, MessageRow } from '../../../store-ops.ts'
import { type Consumer, consumersAt, failuresAt, messageRow } from '../../message-views.ts'
import { query } from '../rows.ts'
import type { MessageRow as StoredMessage } from '../state.ts'
import { consumerReader } from './consumers.ts'
import { MessageLister, type Place } from './message-list.ts'
import { type PartitionHead, partitionHeads } from './partition-heads.ts'

const COLUMNS =
  'position, id, transaction_id, trace_id, producer_sub, created_at, encrypted, payload'

/** Reads messages as the browser of messages shows them. */
export class MessageBrowser {
  readonly #cipher: PayloadCipher
  readonly #heads
  readonly #consumersOf
  readonly #lister: MessageLister
  readonly #sql

  constructor(db: DatabaseSync, cipher: PayloadCipher) {
    this.#cipher = cipher
    this.#heads = partitionHeads(db)
    this.#consumersOf = consumerReader(db)
    this.#lister = new MessageLister(db, this.#consumersOf)
    this.#sql = {
      at: query<StoredMessage>(
        db,
        `SELECT ${COLUMNS} FROM message WHERE partition_id = ? AND position = ?`,
      ),
      byTransaction: query<StoredMessage>(
        db,
        `SELECT ${COLUMNS} FROM message WHERE partition_id = ? AND transaction_id = ?
           AND position >= ? ORDER BY position DESC LIMIT 1`,
      ),
      dead: query<{ error: string | null; retry_count: number }>(
        db,
        `SELECT error, retry_count FROM dead_letter WHERE partition_uuid = ? AND transaction_id = ?
           AND message_id = ? ORDER BY failed_at DESC, id DESC LIMIT 1`,
      ),
      options: query<{ options: string }>(db, 'SELECT options FROM queue WHERE id = ?'),
      groups: query<{ groups: number | null; plain: number | null }>(
        db,
        `SELECT count(DISTINCT CASE WHEN s.group_name <> '__QUEUE_MODE__' THEN s.group_name END)
             AS groups,
           max(s.group_name = '__QUEUE_MODE__') AS plain
         FROM subscription s JOIN queue q ON q.id = s.queue_id
         WHERE q.deleted = 0 AND (s.mode IS NOT NULL OR s.members > 0)
           AND (?1 IS NULL OR q.name = ?1) AND (?2 IS NULL OR q.namespace = ?2)
           AND (?3 IS NULL OR q.task = ?3)`,
      ),
    }
  }

  /** One page, newest first. Queue API 10.1. */
  list(filter: MessageFilter) {
    const { places, total } = this.#lister.list(this.#heads.matching(filter), filter)
    const consumers = new Map<number, readonly Consumer[]>()
    const rows = places.flatMap((place: Place) => {
      const { partition, position } = place
      const known = consumers.get(partition.id) ?? this.#consumersOf(partition, filter.nowUs)
      consumers.set(partition.id, known)
      const stored = this.#sql.at.one(partition.id, position)
      return stored === undefined ? [] : [this.#rowOf(partition, stored, known)]
    })
    return { rows, total, mode: this.#mode(filter.queue, filter.namespace, filter.task) }
  }

  /** One message in full; null when it is not stored. Queue API 10.2. */
  show(partitionId: string, transactionId: string, nowUs: number): MessageDetail | null {
    const partition = this.#heads.byUuid(partitionId)
    if (partition === undefined) return null
    const stored = this.#sql.byTransaction.one(partition.id, transactionId, partition.head)
    if (stored === undefined) return null
    const consumers = this.#consumersOf(partition, nowUs)
    const dead = this.#deadLetter(partition, stored)
    const given: Partial<QueueOptions> = JSON.parse(
      this.#sql.options.one(partition.queueId)?.options ?? '{}',
    )
    return {
      message: this.#rowOf(partition, stored, consumers),
      consumers: consumersAt(consumers, stored.position),
      ...failuresAt(consumers, stored.position, dead),
      options: { ...DEFAULT_OPTIONS, ...given },
    }
  }

  #mode(queue: string | null, namespace: string | null, task: string | null): ConsumerMode {
    const row = this.#sql.groups.one(queue, namespace, task)
    return { hasQueueMode: row?.plain === 1, busGroups: row?.groups ?? 0 }
  }

  #deadLetter(partition: PartitionHead, stored: StoredMessage) {
    return this.#sql.dead.one(partition.uuid, stored.transaction_id, stored.id)
  }

  #rowOf(
    partition: PartitionHead,
    stored: StoredMessage,
    consumers: readonly Consumer[],
  ): MessageRow {
    const dead = this.#deadLetter(partition, stored) !== undefined
    const setting = { origin: partition, consumers, dead, encrypted: stored.encrypted === 1 }
    return messageRow(stored, setting, this.#cipher)
  }
}
