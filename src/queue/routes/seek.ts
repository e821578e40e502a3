import type { Router } from 'express'
import type { z } from 'zod'
import { answerJson, HttpError } from '../../http/index.ts'
import { checkName, isoMicros } from '../model.ts'
import { seekPartition, seekQueue } from '../shapes/groups.ts'
import type { SeekTarget } from '../store.ts'
import type { QueueRouteParts } from './parts.ts'
import { bodyOf, optionalBodyOf, pathParam } from './request.ts'
import { requiredMicros } from './times.ts'

type SeekBody = z.output<typeof seekQueue.body>

/** Exactly one of `toEnd` and `timestamp`. @throws HttpError 400 */
function targetOf({ toEnd, timestamp }: SeekBody): SeekTarget {
  const byTime = timestamp !== undefined && timestamp !== null
  if (byTime === (toEnd === true)) {
    throw new HttpError('invalid_request', 'exactly one of toEnd and timestamp is required')
  }
  return byTime ? { to: 'time', atUs: requiredMicros(timestamp, 'timestamp') } : { to: 'end' }
}

function isEmpty({ toEnd, timestamp }: SeekBody): boolean {
  return (toEnd ?? null) === null && (timestamp ?? null) === null
}

/** Moving the cursors of a group. Queue API 7.7 and 7.8. */
export function seekRoutes(router: Router, { engine, maxBodyBytes }: QueueRouteParts): void {
  router.post(seekQueue.path, async (req, res) => {
    const consumerGroup = checkName('group', pathParam(req, 'group'))
    const queueName = checkName('queue', pathParam(req, 'queue'))
    const target = targetOf(await bodyOf(seekQueue.body, req, res, maxBodyBytes))
    const moved = await engine.seek(consumerGroup, queueName, null, target)
    if (moved === null) throw new HttpError('not_found', 'Queue not found')
    answerJson(res, 200, {
      success: true,
      consumerGroup,
      queueName,
      seekToEnd: target.to === 'end',
      targetTimestamp: target.to === 'time' ? isoMicros(target.atUs) : null,
      partitionsUpdated: moved.updated,
    })
  })
  router.post(seekPartition.path, async (req, res) => {
    const consumerGroup = checkName('group', pathParam(req, 'group'))
    const queueName = checkName('queue', pathParam(req, 'queue'))
    const partitionName = checkName('partition', pathParam(req, 'partition'))
    const body = await optionalBodyOf(seekPartition.body, req, res, maxBodyBytes)
    const target: SeekTarget = isEmpty(body) ? { to: 'end' } : targetOf(body)
    const moved = await engine.seek(consumerGroup, queueName, partitionName, target)
    if (moved === null) throw new HttpError('not_found', 'Partition not found')
    answerJson(res, 200, {
      success: true,
      consumerGroup,
      queueName,
      partitionName,
      updated: moved.updated > 0,
      cursorMovedTo: moved.movedTo,
    })
  })
}
