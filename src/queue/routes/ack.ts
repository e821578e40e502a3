import type { Response, Router } from 'express'
import { answerJson } from '../../http/index.ts'
import { ackStatus } from '../model.ts'
import { type AckItemBody, ackBatch, ackOne } from '../shapes/ack.ts'
import type { AckItem, AckResult } from '../store.ts'
import type { QueueRouteParts } from './parts.ts'
import { bodyOf, groupOf } from './request.ts'

/** The acknowledgement as the engine takes it. */
export function ackItemOf(body: AckItemBody): AckItem {
  return {
    transactionId: body.transactionId,
    partitionId: body.partitionId,
    status: ackStatus(body.status),
    error: body.error,
    leaseId: body.leaseId || null,
  }
}

function entryOf(result: AckResult, item: AckItem | undefined, index: number) {
  const { success, error, leaseReleased, dlq, noop, queueName, partitionName } = result
  return {
    index,
    transactionId: item?.transactionId,
    success,
    error,
    leaseReleased,
    dlq,
    ...(noop && { noop }),
    queueName,
    partitionName,
  }
}

/** POST /api/v1/ack and /api/v1/ack/batch: a bare array for both, with 200 whatever the items say. Queue API 6.1. */
export function ackRoutes(router: Router, { engine, maxBodyBytes }: QueueRouteParts): void {
  const answer = async (res: Response, group: string, bodies: readonly AckItemBody[]) => {
    const items = bodies.map(ackItemOf)
    const results = items.length === 0 ? [] : await engine.ack(group, items)
    answerJson(
      res,
      200,
      results.map((result, index) => entryOf(result, items[index], index)),
    )
  }
  router.post(ackOne.path, async (req, res) => {
    const body = await bodyOf(ackOne.body, req, res, maxBodyBytes)
    await answer(res, groupOf(body.consumerGroup), [body])
  })
  router.post(ackBatch.path, async (req, res) => {
    const body = await bodyOf(ackBatch.body, req, res, maxBodyBytes)
    await answer(res, groupOf(body.consumerGroup), body.acknowledgments)
  })
}
