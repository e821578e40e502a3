import type { Request } from 'express'
import type { Log } from '../keys/index.ts'
import type { RefusalLog } from './answers.ts'

/** The lines that the hub writes. None holds a token, a payload, a topic or the data of an update. */
export interface HubLog extends RefusalLog {
  /** Something that no request waits for went wrong. */
  background(error: unknown, text: string): void
}

function facts(req: Request): object {
  return { ...(req.id === undefined ? {} : { reqId: req.id }), method: req.method }
}

/** Makes the hub's log over an app's logger. */
export function hubLog(logger: Log): HubLog {
  return {
    refusedToken(req, error) {
      logger.info({ ...facts(req), code: error.code, reason: error.reason }, 'hub token refused')
    },
    failed(req, error) {
      logger.error({ ...facts(req), err: error }, 'hub request failed')
    },
    background(error, text) {
      logger.error({ err: error }, text)
    },
  }
}
