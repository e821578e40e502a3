import type { Response, Router } from 'express'
import { answerJson, answerJsonText, HttpError } from '../../http/index.ts'
import { checkName, isoMicros } from '../model.ts'
import {
  buryMessage,
  clearDeadLetters,
  listDeadLetters,
  replayDeadLetter,
  retryMessage,
} from '../shapes/dlq.ts'
import type { DlqRow, ReplayResult, Writes } from '../store.ts'
import type { QueueRouteParts } from './parts.ts'
import { groupOf, optionalBodyOf, pathParam, queryOf } from './request.ts'

/** `to` is inclusive, and a time given in ms means all of that ms. */
const LAST_MICRO = 999

/** The row's text; the payload goes in as the JSON text that was stored. */
function rowText(row: DlqRow): string {
  const rest = JSON.stringify({
    id: row.id,
    messageId: row.messageId,
    transactionId: row.transactionId,
    partitionId: row.partitionId,
    queue: row.queue,
    partition: row.partition,
    consumerGroup: row.group,
    errorMessage: row.error,
    retryCount: row.retryCount,
    producerSub: row.producerSub,
    createdAt: isoMicros(row.createdAtUs),
    failedAt: isoMicros(row.failedAtUs),
    isEncrypted: row.encrypted,
  })
  return `${rest.slice(0, -1)},"data":${row.payload}}`
}

function answerReplay(res: Response, result: Exclude<ReplayResult, { result: 'gone' }>): void {
  answerJson(res, 200, {
    success: true,
    result: result.result,
    queue: result.queue,
    partition: result.partition,
    consumerGroup: result.consumerGroup,
    dlqId: result.dlqId,
    originalTransactionId: result.originalTransactionId,
    replayedAs: {
      index: 0,
      message_id: result.messageId,
      transaction_id: result.transactionId,
      queueName: result.queue,
      status: result.result === 'moved' ? 'queued' : 'duplicate',
    },
    dlqRowRemoved: true,
  })
}

const refusals = {
  unknown: () => new HttpError('not_found', 'Message not found'),
  not_next: () => new HttpError('conflict', 'The message is not the next one of that group'),
} as const

/** Listing and clearing. Queue API 8.1 and 8.2. */
export function dlqRoutes(router: Router, { engine }: QueueRouteParts): void {
  router.get(listDeadLetters.path, async (req, res) => {
    const query = queryOf(listDeadLetters.query, req)
    const { limit, offset } = query
    const { rows, total } = await engine.read('dlq', {
      queue: query.queue ?? null,
      group: query.consumerGroup ?? null,
      partition: query.partition ?? null,
      fromUs: query.from === undefined ? null : query.from * 1000,
      toUs: query.to === undefined ? null : query.to * 1000 + LAST_MICRO,
      limit,
      offset,
    })
    const tail = JSON.stringify({ total, pagination: { limit, offset } }).slice(1)
    answerJsonText(res, 200, `{"messages":[${rows.map(rowText).join(',')}],${tail}`)
  })
  router.delete(clearDeadLetters.path, async (req, res) => {
    const { queue, consumerGroup = null } = queryOf(clearDeadLetters.query, req)
    if (queue === undefined) throw new HttpError('invalid_request', 'queue is required')
    const { deleted } = await engine.deleteDlq(queue, consumerGroup)
    answerJson(res, 200, { success: true, deleted, queue, consumerGroup })
  })
}

/** Putting dead letters back, and filing one by hand. Queue API 8.3 to 8.5. */
export function replayRoutes(router: Router, { engine, maxBodyBytes }: QueueRouteParts): void {
  const replay = async (
    by: Writes['replayDlq']['args']['by'],
    body: { readonly queue?: string | undefined; readonly partition?: string | undefined },
  ) => {
    const { pushMaintenance } = await engine.flags()
    if (pushMaintenance) throw new HttpError('unavailable', 'Push maintenance is on')
    return engine.replayDlq(by, body.queue ?? null, body.partition ?? null)
  }
  router.post(replayDeadLetter.path, async (req, res) => {
    const body = await optionalBodyOf(replayDeadLetter.body, req, res, maxBodyBytes)
    const dlqId = pathParam(req, 'id')
    const result = await replay({ dlqId }, body)
    if (result.result !== 'gone') {
      answerReplay(res, result)
      return
    }
    const error = 'Dead letter not found'
    answerJson(res, 404, { success: false, result: 'gone', dlqId, error, message: error })
  })
  router.post(retryMessage.path, async (req, res) => {
    const body = await optionalBodyOf(retryMessage.body, req, res, maxBodyBytes)
    const partitionId = pathParam(req, 'partitionId')
    const transactionId = pathParam(req, 'transactionId')
    const result = await replay({ partitionId, transactionId }, body)
    if (result.result === 'gone') throw new HttpError('not_found', 'Dead letter not found')
    answerReplay(res, result)
  })
  router.post(buryMessage.path, async (req, res) => {
    const body = await optionalBodyOf(buryMessage.body, req, res, maxBodyBytes)
    const partitionId = pathParam(req, 'partitionId')
    const transactionId = pathParam(req, 'transactionId')
    const consumerGroup = checkName('consumerGroup', groupOf(body.consumerGroup))
    const moved = await engine.moveToDlq(
      partitionId,
      transactionId,
      consumerGroup,
      body.error ?? null,
    )
    if (moved.result !== 'moved') throw refusals[moved.result]()
    const { dlqId } = moved
    answerJson(res, 200, { success: true, partitionId, transactionId, consumerGroup, dlqId })
  })
}
