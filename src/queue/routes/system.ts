import type { Router } from 'express'
import { answerJson } from '../../http/index.ts'
import { isoMicrosOrNull } from '../model.ts'
import {
  interInstanceStats,
  notifyQueue,
  refreshStats,
  setMaintenance,
  setPopMaintenance,
  sharedState,
  sharedStateStats,
  showMaintenance,
  showPopMaintenance,
} from '../shapes/system.ts'
import { bufferedOf } from './buffered.ts'
import type { QueueRouteParts } from './parts.ts'
import { bodyOf, optionalBodyOf } from './request.ts'

const SINGLE_NODE = 'single node: nothing is shared between processes'

/** Push maintenance. Queue API 13.1. */
function pushMaintenanceRoutes(router: Router, parts: QueueRouteParts): void {
  const { engine, maxBodyBytes } = parts

  async function bufferOf() {
    const { pending, failed, oldestUs } = await bufferedOf(engine)
    return {
      head: { bufferedMessages: pending, bufferHealthy: failed === 0 },
      bufferStats: { pending, failed, oldestBufferedAt: isoMicrosOrNull(oldestUs) },
    }
  }

  router.get(showMaintenance.path, async (_req, res) => {
    const [flags, { head, bufferStats }] = await Promise.all([engine.flags(), bufferOf()])
    answerJson(res, 200, {
      maintenanceMode: flags.pushMaintenance,
      popMaintenanceMode: flags.popMaintenance,
      ...head,
      bufferStats,
    })
  })

  router.post(setMaintenance.path, async (req, res) => {
    const { enabled } = await bodyOf(setMaintenance.body, req, res, maxBodyBytes)
    await engine.setFlag('pushMaintenance', enabled)
    const { head } = await bufferOf()
    const message = enabled
      ? 'Push maintenance is on: pushes go into the buffer'
      : 'Push maintenance is off: the buffer drains in the background'
    answerJson(res, 200, { maintenanceMode: enabled, ...head, message })
  })
}

/** Pop maintenance. Queue API 13.2. */
function popMaintenanceRoutes(router: Router, { engine, maxBodyBytes }: QueueRouteParts): void {
  const answerOf = (on: boolean) => ({
    popMaintenanceMode: on,
    message: on ? 'Pop maintenance is on: every pop answers 204' : 'Pop maintenance is off',
  })
  router.get(showPopMaintenance.path, async (_req, res) => {
    answerJson(res, 200, answerOf((await engine.flags()).popMaintenance))
  })
  router.post(setPopMaintenance.path, async (req, res) => {
    const { enabled } = await bodyOf(setPopMaintenance.body, req, res, maxBodyBytes)
    await engine.setFlag('popMaintenance', enabled)
    answerJson(res, 200, answerOf(enabled))
  })
}

/** What is shared between processes: nothing on the embedded store. Queue API 13.3. */
function sharedRoutes(router: Router, { engine }: QueueRouteParts): void {
  for (const { path } of [sharedState, sharedStateStats]) {
    router.get(path, async (_req, res) => {
      const { pushMaintenance, popMaintenance } = await engine.flags()
      answerJson(res, 200, {
        enabled: false,
        reason: SINGLE_NODE,
        maintenance_mode: pushMaintenance,
        pop_maintenance_mode: popMaintenance,
      })
    })
  }
  router.get(interInstanceStats.path, (_req, res) => {
    answerJson(res, 200, { enabled: false, reason: SINGLE_NODE })
  })
}

/** The operator's switches and the internal routes. Queue API 13. */
export function systemRoutes(router: Router, parts: QueueRouteParts): void {
  const { engine, maxBodyBytes } = parts
  pushMaintenanceRoutes(router, parts)
  popMaintenanceRoutes(router, parts)
  sharedRoutes(router, parts)

  router.post(notifyQueue.path, async (req, res) => {
    const { queue } = await bodyOf(notifyQueue.body, req, res, maxBodyBytes)
    engine.wake(queue)
    answerJson(res, 200, { status: 'ok' })
  })

  router.post(refreshStats.path, async (req, res) => {
    await optionalBodyOf(refreshStats.body, req, res, maxBodyBytes)
    // Figures are read for every answer, so nothing is cached; the counts say what there is.
    const { partitions, queues, namespaces, tasks } = await engine.read('overview', {})
    answerJson(res, 200, {
      partition: partitions,
      queue: queues,
      namespace: namespaces,
      task: tasks,
      system: 1,
      cleanup: 0,
    })
  })
}
