import type { Router } from 'express'
import { ackRoutes } from './ack.ts'
import { analyticsRoutes } from './analytics.ts'
import { queueAnalyticsRoutes } from './analytics-queues.ts'
import { configureRoutes } from './configure.ts'
import { dashboardRoutes } from './dashboard.ts'
import { dlqRoutes, replayRoutes } from './dlq.ts'
import { groupChangeRoutes, groupListRoutes } from './groups.ts'
import { healthRoutes } from './health.ts'
import { identityRoutes } from './identity.ts'
import { leaseRoutes } from './lease.ts'
import { messageRoutes } from './messages.ts'
import { metricsRoutes } from './metrics.ts'
import { overviewRoutes } from './overview.ts'
import type { QueueRouteParts } from './parts.ts'
import { popRoutes } from './pop.ts'
import { postgresStatsRoutes } from './postgres-stats.ts'
import { pushRoutes } from './push.ts'
import { refuseNulAfter, refuseNulParams } from './request.ts'
import { partitionRoutes, queueRemovalRoutes, queueRoutes } from './resources.ts'
import { seekRoutes } from './seek.ts'
import { statusRoutes } from './status.ts'
import { statusQueueRoutes } from './status-queues.ts'
import { streamRoutes } from './streams.ts'
import { systemRoutes } from './system.ts'
import { traceRoutes } from './traces.ts'
import { transactionRoutes } from './transaction.ts'

export type { QueueRouteParts } from './parts.ts'

/**
 * Every resource of the queue in the order in which paths are tried. The hot ones come first, because a router
 * looks at each pattern in turn; `lagging` stands before `:group`.
 */
const RESOURCES: readonly ((router: Router, parts: QueueRouteParts) => void)[] = [
  pushRoutes,
  ackRoutes,
  popRoutes,
  transactionRoutes,
  leaseRoutes,
  configureRoutes,
  groupListRoutes,
  groupChangeRoutes,
  seekRoutes,
  dlqRoutes,
  replayRoutes,
  queueRoutes,
  queueRemovalRoutes,
  partitionRoutes,
  overviewRoutes,
  healthRoutes,
  statusRoutes,
  metricsRoutes,
  systemRoutes,
  identityRoutes,
  dashboardRoutes,
  messageRoutes,
  traceRoutes,
  statusQueueRoutes,
  analyticsRoutes,
  queueAnalyticsRoutes,
  postgresStatsRoutes,
  streamRoutes,
]

/**
 * Registers the queue's routes, behind the gate and `refuseNulQuery`. They stand on the app's own router: a nested one
 * would cost every push a second search.
 */
export function registerQueue(router: Router, parts: QueueRouteParts): void {
  refuseNulParams(router)
  for (const register of RESOURCES) register(router, parts)
  router.use(refuseNulAfter)
}
