import type { Request, Response, Router } from 'express'
import { answerJsonText, answerNothing, HttpError, whenOver } from '../../http/index.ts'
import type { PopReply } from '../engine/index.ts'
import { checkName } from '../model.ts'
import { popMatching, popPartition, popQueue } from '../shapes/pop.ts'
import type { PopScope } from '../store.ts'
import type { QueueRouteParts } from './parts.ts'
import { labelScopeOf, popRequestOf } from './pop-query.ts'
import { popReplyText } from './pop-reply.ts'
import { pathParam } from './request.ts'

/** HEAD would run a GET handler: it must not take a lease for an answer that has no body. design.md. */
function refuseHead(req: Request, res: Response): void {
  if (req.method !== 'HEAD') return
  res.setHeader('Allow', 'GET')
  throw new HttpError('method_not_allowed')
}

async function pop(
  req: Request,
  res: Response,
  scope: PopScope,
  parts: QueueRouteParts,
): Promise<void> {
  const request = popRequestOf(req.query, scope, parts)
  const { engine, log } = parts
  const gone = new AbortController()
  let reply: PopReply | null = null
  // What a closed socket got would be locked for a whole lease time, or with autoAck lost.
  const giveBack = () => {
    if (reply === null) return
    engine.giveBack(request.group, reply).catch((err: unknown) => {
      log.warn({ err, reqId: req.id }, 'what a client that has gone was given stays leased')
    })
  }
  whenOver(req, res, (delivered) => {
    if (delivered) return
    gone.abort()
    giveBack()
  })
  reply = await engine.pop(request, gone.signal)
  if (gone.signal.aborted) giveBack()
  if (reply === null) answerNothing(res)
  else answerJsonText(res, 200, popReplyText(reply, request.group))
}

/** GET of one partition and of a queue. Queue API 5.3 and 5.4. */
export function popRoutes(router: Router, parts: QueueRouteParts): void {
  router.get(popQueue.path, (req, res) => {
    refuseHead(req, res)
    const queue = checkName('queue', pathParam(req, 'queue'))
    return pop(req, res, { queue, partition: null }, parts)
  })
  router.get(popPartition.path, (req, res) => {
    refuseHead(req, res)
    const queue = checkName('queue', pathParam(req, 'queue'))
    const partition = checkName('partition', pathParam(req, 'partition'))
    return pop(req, res, { queue, partition }, parts)
  })
  router.get(popMatching.path, (req, res) => {
    refuseHead(req, res)
    const scope = labelScopeOf(req.query)
    if (scope === null) {
      throw new HttpError('invalid_request', 'namespace or task is required', {
        success: false,
        messages: [],
      })
    }
    return pop(req, res, scope, parts)
  })
}
