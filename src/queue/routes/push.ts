import type { Router } from 'express'
import { answerJson } from '../../http/index.ts'
import type { PushReply } from '../engine/index.ts'
import { DEFAULT_PARTITION } from '../model.ts'
import { type PushItemBody, push } from '../shapes/push.ts'
import type { PushItem } from '../store.ts'
import type { QueueRouteParts } from './parts.ts'
import { bodyOf, producerOf } from './request.ts'

/** The item as the engine takes it; `missing` is the JSON text stored when no payload was sent. */
export function pushItemOf(body: PushItemBody, missing: string): PushItem {
  const payload = body.payload === undefined ? body.data : body.payload
  return {
    queue: body.queue,
    partition: body.partition || DEFAULT_PARTITION,
    payload: payload === undefined ? missing : JSON.stringify(payload),
    transactionId: body.transactionId || null,
    traceId: body.traceId ?? null,
    namespace: body.namespace ?? null,
    task: body.task ?? null,
  }
}

const more = {
  queued: (reply: PushReply, item: PushItem) => ({
    partition_id: reply.partitionId,
    trace_id: item.traceId,
  }),
  duplicate: (reply: PushReply) => ({ partition_id: reply.partitionId }),
  failed: (reply: PushReply) => ({ error: reply.error }),
  buffered: (reply: PushReply, item: PushItem) => ({
    queue: item.queue,
    partition: item.partition,
    transactionId: reply.transactionId,
  }),
} as const

function entryOf(reply: PushReply, item: PushItem | undefined, index: number) {
  return {
    index,
    transaction_id: reply.transactionId,
    message_id: reply.messageId,
    status: reply.status,
    queueName: item?.queue,
    ...(item && more[reply.status](reply, item)),
  }
}

/** POST /api/v1/push. Queue API 5.2. */
export function pushRoutes(router: Router, { engine, maxBodyBytes }: QueueRouteParts): void {
  router.post(push.path, async (req, res) => {
    const body = await bodyOf(push.body, req, res, maxBodyBytes)
    const items = body.items.map((item) => pushItemOf(item, 'null'))
    const replies = await engine.push(items, producerOf(req))
    answerJson(
      res,
      201,
      replies.map((reply, index) => entryOf(reply, items[index], index)),
    )
  })
}
