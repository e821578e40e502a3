import type { Router } from 'express'
import { answerJson } from '../../http/index.ts'
import { setMaintenance, showMaintenance } from '../shapes/system.ts'
import type { QueueRouteParts } from './parts.ts'
import { bodyOf } from './request.ts'

/** Pushes are not diverted yet, so nothing ever waits in the buffer. */
const EMPTY_BUFFER = { bufferedMessages: 0, bufferHealthy: true } as const

/** GET and POST /api/v1/system/maintenance. Queue API 13.1. */
export function systemRoutes(router: Router, { engine, maxBodyBytes }: QueueRouteParts): void {
  router.get(showMaintenance.path, async (_req, res) => {
    const { pushMaintenance, popMaintenance } = await engine.flags()
    answerJson(res, 200, {
      maintenanceMode: pushMaintenance,
      popMaintenanceMode: popMaintenance,
      ...EMPTY_BUFFER,
      bufferStats: { pending: 0, failed: 0, oldestBufferedAt: null },
    })
  })
  router.post(setMaintenance.path, async (req, res) => {
    const { enabled } = await bodyOf(setMaintenance.body, req, res, maxBodyBytes)
    await engine.setFlag('pushMaintenance', enabled)
    answerJson(res, 200, {
      maintenanceMode: enabled,
      ...EMPTY_BUFFER,
      message: `Push maintenance is ${enabled ? 'on' : 'off'}`,
    })
  })
}
