import type { Router } from 'express'
import { notImplemented } from '../../http/index.ts'

/** Routes that have their level and no handler yet. Each leaves this list when its resource is served. */
const PENDING_READS = [
  '/api/v1/messages',
  '/api/v1/messages/:partitionId/:transactionId',
  '/api/v1/traces/names',
  '/api/v1/traces/by-name/:traceName',
  '/api/v1/traces/:partitionId/:transactionId',
  '/api/v1/status/queues',
  '/api/v1/status/queues/:queue',
  '/api/v1/status/queues/:queue/messages',
  '/api/v1/status/analytics',
  '/api/v1/status/buffers',
  '/api/v1/analytics/system-metrics',
  '/api/v1/analytics/worker-metrics',
  '/api/v1/analytics/queue-lag',
  '/api/v1/analytics/queue-ops',
  '/api/v1/analytics/queue-parked-replicas',
  '/api/v1/analytics/retention',
  '/api/v1/analytics/postgres-stats',
  '/api/v1/system/maintenance/pop',
  '/api/v1/system/shared-state',
  '/internal/api/shared-state/stats',
  '/internal/api/inter-instance/stats',
] as const

const PENDING_WRITES = [
  '/api/v1/traces',
  '/api/v1/stats/refresh',
  '/api/v1/system/maintenance/pop',
  '/internal/api/notify',
  '/streams/v1/queries',
  '/streams/v1/state/get',
  '/streams/v1/cycle',
] as const

/** Answers 501 after the gate on every row of the table that is not served yet. */
export function pendingRoutes(router: Router): void {
  for (const path of PENDING_READS) router.get(path, notImplemented)
  for (const path of PENDING_WRITES) router.post(path, notImplemented)
  router.delete('/api/v1/messages/:partitionId/:transactionId', notImplemented)
}
