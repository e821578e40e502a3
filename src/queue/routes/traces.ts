import type { Request, Router } from 'express'
import { answerJson, answerJsonText, HttpError } from '../../http/index.ts'
import { isoMicros } from '../model.ts'
import { addTrace, messageTraces, traceNames, tracesByName } from '../shapes/traces.ts'
import type { NamedTraceRow, TraceRow } from '../store-ops.ts'
import { jsonWith } from './json-text.ts'
import type { QueueRouteParts } from './parts.ts'
import { bodyOf, groupOf, pathParam, queryOf } from './request.ts'

/** The type of an event that names none. Queue API 10.4. */
const DEFAULT_EVENT = 'info'

function eventOf(row: TraceRow) {
  return {
    id: row.id,
    event_type: row.eventType,
    consumer_group: row.group,
    worker_id: row.workerId,
    created_at: isoMicros(row.createdAtUs),
    trace_names: row.names,
  }
}

function namedText(row: NamedTraceRow): string {
  const message = {
    transaction_id: row.transactionId,
    partition_id: row.partitionId,
    queue_name: row.queue,
    partition_name: row.partition,
  }
  const texts = { data: row.data, message_payload: row.payload ?? 'null' }
  return jsonWith({ ...eventOf(row), ...message }, texts)
}

function listText(rows: readonly string[]): string {
  return `[${rows.join(',')}]`
}

function microsOf(ms: number | undefined): number | null {
  return ms === undefined ? null : ms * 1000
}

function readRoutes(router: Router, { engine }: QueueRouteParts): void {
  router.get(traceNames.path, async (req, res) => {
    const page = queryOf(traceNames.query, req)
    const { rows, total } = await engine.read('traceNames', page)
    answerJson(res, 200, {
      trace_names: rows.map((row) => ({
        trace_name: row.name,
        trace_count: row.traces,
        message_count: row.messages,
        last_seen: isoMicros(row.lastSeenUs),
      })),
      total,
      pagination: page,
    })
  })

  router.get(tracesByName.path, async (req: Request, res) => {
    const { limit, offset, from, to } = queryOf(tracesByName.query, req)
    const { rows, total } = await engine.read('tracesByName', {
      name: pathParam(req, 'traceName'),
      fromUs: microsOf(from),
      toUs: microsOf(to),
      limit,
      offset,
    })
    const traces = listText(rows.map(namedText))
    answerJsonText(res, 200, jsonWith({ total, pagination: { limit, offset } }, { traces }))
  })

  router.get(messageTraces.path, async (req, res) => {
    const rows = await engine.read('messageTraces', {
      partitionId: pathParam(req, 'partitionId'),
      transactionId: pathParam(req, 'transactionId'),
    })
    const traces = listText(rows.map((row) => jsonWith(eventOf(row), { data: row.data })))
    answerJsonText(res, 200, jsonWith({}, { traces }))
  })
}

/** Events in the life of messages. Queue API 10.4 and 10.5. */
export function traceRoutes(router: Router, parts: QueueRouteParts): void {
  const { engine, maxBodyBytes } = parts
  router.post(addTrace.path, async (req, res) => {
    const body = await bodyOf(addTrace.body, req, res, maxBodyBytes)
    const { traceId } = await engine.write('addTrace', {
      partitionId: body.partitionId,
      transactionId: body.transactionId,
      group: groupOf(body.consumerGroup),
      names: body.traceNames,
      eventType: body.eventType || DEFAULT_EVENT,
      workerId: body.workerId ?? null,
      data: JSON.stringify(body.data),
    })
    if (traceId === null) throw new HttpError('not_found', 'Message not found')
    answerJson(res, 201, { success: true, traceId })
  })
  readRoutes(router, parts)
}
