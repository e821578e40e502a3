import type { Router } from 'express'
import { answerJson } from '../../http/index.ts'
import { jsonMetrics, prometheusMetrics } from '../shapes/system.ts'
import type { QueueRouteParts } from './parts.ts'

/** GET /metrics (JSON) and /metrics/prometheus (text). Queue API 12. */
export function metricsRoutes(router: Router, { engine, metricsText }: QueueRouteParts): void {
  router.get(jsonMetrics.path, (_req, res) => {
    const done = engine.counters()
    const uptime = process.uptime()
    // Both figures are means since the start: one beside the other they tell the messages of a request.
    const perSecond = (total: number) => Math.round((total / uptime) * 100) / 100
    const requests = done.pushRequests + done.popRequests + done.ackRequests + done.transactions
    const { rss, heapTotal, heapUsed, external, arrayBuffers } = process.memoryUsage()
    answerJson(res, 200, {
      uptime,
      requests: { total: requests, rate: perSecond(requests) },
      messages: { total: done.pushMessages, rate: perSecond(done.pushMessages) },
      database: { poolSize: 1, idleConnections: 0, waitingRequests: done.pendingWrites },
      memory: { rss, heapTotal, heapUsed, external, arrayBuffers },
      cpu: process.cpuUsage(),
    })
  })
  router.get(prometheusMetrics.path, async (_req, res) => {
    const { type, text } = await metricsText()
    res.writeHead(200, { 'Content-Type': type, 'Content-Length': Buffer.byteLength(text) })
    res.end(text)
  })
}
