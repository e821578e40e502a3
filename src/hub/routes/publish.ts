import type { Request, Response } from 'express'
import { answerText, HubRefusal } from '../answers.ts'
import { readBody } from '../body.ts'
import { type HubContext, identify } from '../context.ts'
import { HubAuthError, HubRequestError } from '../errors.ts'
import { isFormType } from '../form.ts'
import { readPublication } from '../publication.ts'

/**
 * `POST` to the hub URL. The order of checks is the protocol's: the token before a byte of the body is
 * read, the size before the form, the fields before the grants. The answer comes once the update is
 * stored; its body is the update's id and nothing else.
 */
export async function publish(hub: HubContext, req: Request, res: Response): Promise<void> {
  const { grants } = await identify(hub, req, 'publisher')
  const body = await readBody(req, hub.config.maxRequestBodyBytes)
  if (!isFormType(req.headers['content-type'])) {
    throw new HubRequestError('topic_missing', 'topic: missing (the body is not a form)')
  }
  const publication = readPublication(body)
  if (!(await hub.engine.turns.finish(grants.walkEvery('publish', publication.topics)))) {
    throw new HubAuthError('not_granted', 'publish_not_granted')
  }
  try {
    await hub.ready
    const id = await hub.engine.publish(publication)
    hub.metrics.updates.inc()
    answerText(req, res, 200, id)
  } catch (cause) {
    hub.metrics.failedUpdates.inc()
    throw new HubRefusal(500, {}, { cause })
  }
}
