import type { Router } from 'express'
import type { z } from 'zod'
import { answerJson, answerJsonText } from '../../http/index.ts'
import { isoMicros } from '../model.ts'
import { pushItem } from '../shapes/push.ts'
import { type cycleBody, getState, registerQuery, runCycle } from '../shapes/streams.ts'
import type { PushItem } from '../store.ts'
import type { CycleArgs, CycleOutcome, StateOp } from '../store-streams.ts'
import { jsonWith } from './json-text.ts'
import type { QueueRouteParts } from './parts.ts'
import { pushItemOf } from './push.ts'
import { bodyOf, checked, groupOf, producerOf } from './request.ts'

type CycleBody = z.output<typeof cycleBody>

const NO_VALUE = 'null'

/** The state changes of a cycle; null when one is of an unknown type, which fails the cycle. */
function stateOpsOf(body: CycleBody): readonly StateOp[] | null {
  const ops: StateOp[] = []
  for (const { type, key, value } of body.state_ops ?? []) {
    if (type === 'delete') ops.push({ type, key })
    else if (type === 'upsert') ops.push({ type, key, value: JSON.stringify(value) ?? NO_VALUE })
    else return null
  }
  return ops
}

function pushItemsOf(body: CycleBody): readonly PushItem[] {
  return (body.push_items ?? []).map((item, at) =>
    pushItemOf(checked(pushItem, item, `push_items[${at}]`), NO_VALUE),
  )
}

function countOf({ ack }: CycleBody): number {
  return Math.max(0, Math.trunc(ack?.count ?? 1))
}

function ackOf(body: CycleBody): CycleArgs['ack'] {
  const { ack } = body
  if (ack === null || ack === undefined) return null
  // Anything but a completed batch gives the lease back and moves nothing.
  const completed = ack.status === null || ack.status === undefined || ack.status === 'completed'
  return {
    transactionId: ack.transactionId,
    leaseId: ack.leaseId || null,
    status: completed ? 'completed' : 'failed',
    count: countOf(body),
  }
}

/** The answer to a cycle; after a failure nothing is reported as done. Queue API 15.3. */
function cycleAnswer(body: CycleBody, items: readonly PushItem[], outcome: CycleOutcome) {
  const head = {
    query_id: body.query_id,
    partition_id: body.partition_id,
    queueName: outcome.queueName,
  }
  if (!outcome.success) {
    const nothing = { state_ops_applied: 0, push_results: [], ack_result: null }
    return { success: false, ...head, ...nothing, error: outcome.error }
  }
  return {
    success: true,
    ...head,
    state_ops_applied: body.state_ops?.length ?? 0,
    push_results: outcome.pushes.map((push, index) => ({
      index,
      transaction_id: push.transactionId,
      message_id: push.messageId,
      status: push.status,
      partition_id: push.partitionId,
      ...(push.status === 'queued' && { trace_id: items[index]?.traceId ?? null }),
      queueName: items[index]?.queue ?? '',
    })),
    ack_result: body.ack
      ? {
          success: true,
          count: countOf(body),
          lease_released: outcome.leaseReleased,
          dlq: false,
        }
      : null,
  }
}

function cycleRoutes(router: Router, { engine, maxBodyBytes }: QueueRouteParts): void {
  router.post(runCycle.path, async (req, res) => {
    const body = await bodyOf(runCycle.body, req, res, maxBodyBytes)
    const items = pushItemsOf(body)
    const stateOps = stateOpsOf(body)
    const outcome: CycleOutcome =
      stateOps === null
        ? { success: false, queueName: null, error: 'unknown type of a state operation' }
        : await engine.write('cycle', {
            queryId: body.query_id,
            partitionId: body.partition_id,
            group: groupOf(body.consumer_group),
            stateOps,
            pushItems: items,
            ack: ackOf(body),
            releaseLease: body.release_lease ?? true,
            producerSub: producerOf(req),
          })
    answerJson(res, 200, cycleAnswer(body, items, outcome))
  })
}

/** Streams v1: registration, state and cycles. Queue API 15. */
export function streamRoutes(router: Router, parts: QueueRouteParts): void {
  const { engine, maxBodyBytes } = parts
  router.post(registerQuery.path, async (req, res) => {
    const body = await bodyOf(registerQuery.body, req, res, maxBodyBytes)
    const { name } = body
    const outcome = await engine.write('registerQuery', {
      name,
      sourceQueue: body.source_queue,
      sinkQueue: body.sink_queue ?? null,
      configHash: body.config_hash,
      reset: body.reset ?? false,
    })
    if (outcome.result === 'hash_mismatch') {
      const error = 'config_hash mismatch: pass reset to drop the state of the former program'
      answerJson(res, 409, { success: false, query_id: outcome.queryId, name, error })
      return
    }
    const { queryId: query_id, fresh, reset } = outcome
    answerJson(res, 200, { success: true, query_id, name, fresh, reset })
  })

  router.post(getState.path, async (req, res) => {
    const body = await bodyOf(getState.body, req, res, maxBodyBytes)
    const rows = await engine.read('streamState', {
      queryId: body.query_id,
      partitionId: body.partition_id,
      keys: body.keys ?? null,
      keyPrefix: body.key_prefix ?? null,
      ripeAtOrBefore: body.ripe_at_or_before ?? null,
    })
    const texts = rows.map(({ key, value, updatedAtUs }) =>
      jsonWith({ key, updated_at: isoMicros(updatedAtUs) }, { value }),
    )
    answerJsonText(res, 200, jsonWith({ success: true }, { rows: `[${texts.join(',')}]` }))
  })
  cycleRoutes(router, parts)
}
