import type { Router } from 'express'
import { answerJson } from '../../http/index.ts'
import { health, status } from '../shapes/health.ts'
import type { QueueRouteParts } from './parts.ts'

/** A probe must not wait on slow work: a store that takes longer counts as down. */
const PING_LIMIT_MS = 4000

function within(limitMs: number, work: Promise<unknown>): Promise<boolean> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, limitMs, false)
    work.then(
      () => resolve(true),
      () => resolve(false),
    )
    work.finally(() => clearTimeout(timer)).catch(() => {})
  })
}

/** GET /health and /status. Queue API 9. */
export function healthRoutes(router: Router, parts: QueueRouteParts): void {
  const { engine, version, workerId, store, health: others } = parts
  const head = { server: 'hivegate', version, worker_id: workerId, engine: store }
  router.get(health.path, async (_req, res) => {
    const up = await within(PING_LIMIT_MS, engine.ping())
    const body = up
      ? { status: 'healthy', database: 'connected', ...head, ...others() }
      : { status: 'unhealthy', database: 'disconnected', ...head, ...others() }
    answerJson(res, up ? 200 : 503, body)
  })
  router.get(status.path, (_req, res) => answerJson(res, 200, { status: 'ok', engine: store }))
}
