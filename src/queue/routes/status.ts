import type { Router } from 'express'
import { answerJson } from '../../http/index.ts'
import { spanOf, timeRangeOf } from '../metrics/span.ts'
import { overallStatus } from '../shapes/status.ts'
import type { QueueRouteParts } from './parts.ts'
import { queryOf } from './request.ts'
import { sixOf } from './resources.ts'

/** Messages per request; zero without requests. */
function perRequest(messages: number, requests: number): number {
  return requests === 0 ? 0 : Math.round((messages / requests) * 100) / 100
}

/** GET /api/v1/status. Queue API 11.1; its series is empty. */
export function statusRoutes(router: Router, parts: QueueRouteParts): void {
  const { engine, clock, hostname, workerId } = parts
  router.get(overallStatus.path, async (req, res) => {
    const query = queryOf(overallStatus.query, req)
    const span = spanOf(query, clock.now())
    const { queue = null, namespace = null, task = null } = query
    const figures = await engine.read('status', { queue, namespace, task })
    const done = engine.counters()
    answerJson(res, 200, {
      timeRange: timeRangeOf(span),
      bucketMinutes: span.bucketMinutes,
      pointCount: 0,
      throughput: [],
      queues: figures.queues,
      messages: {
        ...sixOf(figures.counts),
        requests: { push: done.pushRequests, pop: done.popRequests, ack: done.ackRequests },
        batchEfficiency: {
          push: perRequest(done.pushMessages, done.pushRequests),
          pop: perRequest(done.popMessages, done.popRequests),
          ack: perRequest(done.ackSuccess + done.ackFailed, done.ackRequests),
        },
      },
      leases: figures.leases,
      deadLetterQueue: figures.deadLetters,
      workers: [
        {
          hostname,
          workerId,
          avgEventLoopLagMs: 0,
          maxEventLoopLagMs: 0,
          freeSlots: 0,
          dbConnections: 1,
          jobQueueSize: done.pendingWrites,
          messagesProcessed: done.pushMessages + done.popMessages,
        },
      ],
      errors: {
        dbErrors: done.storeErrors,
        ackFailed: done.ackFailed,
        dlqMessages: done.deadLettered,
      },
      statsAge: 0,
    })
  })
}
