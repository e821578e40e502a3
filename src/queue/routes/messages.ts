import type { Router } from 'express'
import { answerJsonText, HttpError } from '../../http/index.ts'
import { checkName, isoMicros, isoMicrosOrNull, QUEUE_MODE } from '../model.ts'
import { deleteMessage, listMessages, queueMessages, showMessage } from '../shapes/messages.ts'
import type { ConsumerMode, MessageDetail, MessageFilter, MessageRow } from '../store-ops.ts'
import { jsonWith } from './json-text.ts'
import type { QueueRouteParts } from './parts.ts'
import { pathParam, queryOf } from './request.ts'

const HOUR_US = 3_600_000_000
const MINUTE_US = 60_000_000

const NO_MESSAGE = 'Message not found'

/** Who consumes, in one word. */
function typeOf({ hasQueueMode, busGroups }: ConsumerMode): 'bus' | 'queue' | 'hybrid' | 'none' {
  if (hasQueueMode) return busGroups > 0 ? 'hybrid' : 'queue'
  return busGroups > 0 ? 'bus' : 'none'
}

function modeOf(mode: ConsumerMode) {
  const { hasQueueMode, busGroups } = mode
  return { hasQueueMode, busGroupsCount: busGroups, type: typeOf(mode) }
}

/** One entry; the payload is put in as the text it is stored as. */
function entryOf(row: MessageRow) {
  return {
    id: row.id,
    transactionId: row.transactionId,
    partitionId: row.partitionId,
    queuePath: `${row.queue}/${row.partition}`,
    queue: row.queue,
    partition: row.partition,
    namespace: row.namespace,
    task: row.task,
    status: row.status,
    queueStatus: row.queueStatus,
    busStatus: { consumedBy: row.consumedBy, totalGroups: row.totalGroups },
    traceId: row.traceId,
    producerSub: row.producerSub,
    queuePriority: row.priority,
    createdAt: isoMicros(row.createdAtUs),
    leaseExpiresAt: isoMicrosOrNull(row.leaseExpiresAtUs),
    isEncrypted: row.encrypted,
  }
}

function entryText(row: MessageRow, more: object = {}): string {
  return jsonWith({ ...entryOf(row), ...more }, { data: row.payload, payload: row.payload })
}

function detailText(detail: MessageDetail): string {
  const { message, consumers, options } = detail
  const { leaseTime, retryLimit, retryDelay, ttl, priority } = options
  const mode = {
    hasQueueMode: consumers.some(({ group }) => group === QUEUE_MODE),
    busGroups: message.totalGroups,
  }
  return entryText(message, {
    errorMessage: detail.errorMessage,
    retryCount: detail.retryCount,
    queueConfig: { leaseTime, retryLimit, retryDelay, ttl, priority },
    mode: { ...modeOf(mode), consumedByGroups: message.consumedBy },
    consumerGroups: consumers.map(({ group, consumed, leaseExpiresAtUs }) => ({
      name: group,
      consumed,
      leaseExpiresAt: isoMicrosOrNull(leaseExpiresAtUs),
    })),
  })
}

/**
 * The span of a listing: one hour ago by default, until now. The end is inclusive of its minute, because
 * the client's forms give times without seconds (queue API 10.1).
 */
function spanUs(asked: { from?: number | undefined; to?: number | undefined }, nowUs: number) {
  const end = asked.to === undefined ? nowUs : asked.to * 1000
  return {
    fromUs: asked.from === undefined ? nowUs - HOUR_US : asked.from * 1000,
    toUs: Math.floor(end / MINUTE_US) * MINUTE_US + MINUTE_US - 1,
  }
}

function listRoutes(router: Router, { engine, clock }: QueueRouteParts): void {
  router.get(listMessages.path, async (req, res) => {
    const query = queryOf(listMessages.query, req)
    const { queue = null, partition = null, task = null, status = null, limit, offset } = query
    const filter: Omit<MessageFilter, 'nowUs'> = {
      queue,
      partition,
      namespace: query.ns ?? query.namespace ?? null,
      task,
      status,
      ...spanUs(query, clock.now() * 1000),
      limit,
      offset,
    }
    const { rows, total, mode } = await engine.read('messages', filter)
    const messages = `[${rows.map((row) => entryText(row)).join(',')}]`
    answerJsonText(res, 200, jsonWith({ mode: modeOf(mode), total }, { messages }))
  })

  router.get(queueMessages.path, async (req, res) => {
    const queue = checkName('queue', pathParam(req, 'queue'))
    const { limit, offset } = queryOf(queueMessages.query, req)
    if ((await engine.read('queueDetail', { queue })) === null) {
      throw new HttpError('not_found', 'Queue not found')
    }
    const all = { partition: null, namespace: null, task: null, status: null }
    const span = { fromUs: null, toUs: null, limit, offset }
    const { rows } = await engine.read('messages', { queue, ...all, ...span })
    const entries = rows.map(entryOf).map((entry) => ({
      id: entry.id,
      transactionId: entry.transactionId,
      partitionId: entry.partitionId,
      queuePath: entry.queuePath,
      queue: entry.queue,
      partition: entry.partition,
      status: entry.status,
      createdAt: entry.createdAt,
    }))
    answerJsonText(res, 200, JSON.stringify(entries))
  })
}

/** The browser of messages. Queue API 10.1 to 10.3, and the older list of one queue. */
export function messageRoutes(router: Router, parts: QueueRouteParts): void {
  const { engine } = parts
  listRoutes(router, parts)

  router.get(showMessage.path, async (req, res) => {
    const address = addressOf(req)
    const detail = await engine.read('message', address)
    if (detail === null) throw new HttpError('not_found', NO_MESSAGE)
    answerJsonText(res, 200, detailText(detail))
  })

  router.delete(deleteMessage.path, async (req, res) => {
    const address = addressOf(req)
    const { deleted } = await engine.write('deleteMessage', address)
    if (!deleted) throw new HttpError('not_found', NO_MESSAGE)
    const body = { success: true, ...address, message: 'Message deleted' }
    answerJsonText(res, 200, JSON.stringify(body))
  })
}

function addressOf(req: Parameters<typeof pathParam>[0]) {
  return {
    partitionId: pathParam(req, 'partitionId'),
    transactionId: pathParam(req, 'transactionId'),
  }
}
