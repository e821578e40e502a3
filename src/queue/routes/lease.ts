import type { Router } from 'express'
import { answerJson } from '../../http/index.ts'
import { isoMicrosOrNull } from '../model.ts'
import { extendLease } from '../shapes/lease.ts'
import type { QueueRouteParts } from './parts.ts'
import { optionalBodyOf, pathParam } from './request.ts'

const DEFAULT_EXTENSION_S = 60
/** An extension of more than a year is a mistake. */
const MAX_EXTENSION_S = 31_536_000

/** POST /api/v1/lease/:leaseId/extend: always 200 and always an object. Queue API 6.3. */
export function leaseRoutes(router: Router, { engine, maxBodyBytes }: QueueRouteParts): void {
  router.post(extendLease.path, async (req, res) => {
    const body = await optionalBodyOf(extendLease.body, req, res, maxBodyBytes)
    const asked = Math.trunc(body.seconds ?? DEFAULT_EXTENSION_S)
    const seconds = Math.min(Math.max(asked, 1), MAX_EXTENSION_S)
    const leaseId = pathParam(req, 'leaseId')
    const { renewed, expiresAtUs } = await engine.extend(leaseId, seconds)
    const expiresAt = isoMicrosOrNull(expiresAtUs)
    answerJson(res, 200, {
      leaseId,
      success: renewed > 0,
      renewed,
      newExpiresAt: expiresAt,
      expiresAt,
      lease_expires_at: expiresAt,
    })
  })
}
