import type { Request, Response, Router } from 'express'
import { v7 as uuidv7 } from 'uuid'
import { answerJson, faceOf, HttpError, readJson } from '../../http/index.ts'
import type { TransactionReply } from '../engine/index.ts'
import {
  ackOperation,
  flatPushOperation,
  pushOperation,
  transaction,
  transactionFrame,
} from '../shapes/transaction.ts'
import type { TransactionOp, TransactionResult } from '../store.ts'
import { ackItemOf } from './ack.ts'
import type { QueueRouteParts } from './parts.ts'
import { pushItemOf } from './push.ts'
import { checked, groupOf, producerOf } from './request.ts'

/** A push item without a payload is stored as an empty object here. Queue API 6.4. */
const NO_PAYLOAD = '{}'

/** Reads one operation; a push of several items is several operations. */
function operationsOf(value: unknown, place: string): readonly TransactionOp[] {
  const type = typeof value === 'object' && value !== null ? Reflect.get(value, 'type') : undefined
  if (type === 'ack') {
    const body = checked(ackOperation, value, place)
    return [{ type, group: groupOf(body.consumerGroup), item: ackItemOf(body) }]
  }
  if (type !== 'push') {
    throw new HttpError('invalid_request', `${place}.type must be push or ack`)
  }
  const items =
    typeof value === 'object' && value !== null && 'items' in value
      ? checked(pushOperation, value, place).items
      : [checked(flatPushOperation, value, place)]
  return items.map((item) => ({ type, item: pushItemOf(item, NO_PAYLOAD) }))
}

async function requestOf(req: Request, res: Response, maxBytes: number) {
  const body = checked(transactionFrame, await readJson(req, res, maxBytes))
  const operations = body.operations.flatMap((value, index) =>
    operationsOf(value, `operations[${index}]`),
  )
  return { operations, requiredLeases: body.requiredLeases ?? [] }
}

function resultOf(result: TransactionResult, index: number) {
  if (result.type === 'ack') {
    const { type, transactionId, dlq } = result
    return { index, type, success: true, transactionId, error: null, dlq }
  }
  const { type, transactionId, messageId, partitionId, queueName, duplicate } = result
  return {
    index,
    type,
    success: true,
    transactionId,
    messageId,
    partitionId,
    queueName,
    ...(duplicate && { duplicate }),
  }
}

function answerOf({ id, success, error, results }: TransactionReply) {
  if (!success) return { transactionId: id, success, error, results: [] }
  return { transactionId: id, success, results: results.map(resultOf) }
}

/** What the refusal of a malformed transaction says; rethrows what is no mistake of its sender. */
function refusalOf(error: unknown) {
  const face = faceOf(error)
  if (face?.status !== 400) throw error
  return { transactionId: uuidv7(), success: false, ...face.body, results: [] }
}

/** POST /api/v1/transaction: a failure is 200 with `success: false`, which no client repeats. Queue API 6.4. */
export function transactionRoutes(router: Router, parts: QueueRouteParts): void {
  router.post(transaction.path, async (req, res) => {
    try {
      const { operations, requiredLeases } = await requestOf(req, res, parts.maxBodyBytes)
      const reply = await parts.engine.transaction(operations, requiredLeases, producerOf(req))
      answerJson(res, 200, answerOf(reply))
    } catch (error) {
      answerJson(res, 400, refusalOf(error))
    }
  })
}
