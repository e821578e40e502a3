import { hash } from 'node:crypto'
import type { Request } from 'express'
import type { Log } from '../../keys/index.ts'
import { claim, decodeToken, isJsonObject, TokenError } from '../../tokens/index.ts'
import { credentialOf, tokenOf } from './credential.ts'
import type { Decision } from './decision.ts'
import { REFUSALS } from './refusals.ts'

type Refusal = Extract<Decision, { outcome: 'refused' }>

/** A value from a token must not flood the log. */
const MAX_LOGGED_CHARS = 200

function short(value: unknown): string | undefined {
  return typeof value === 'string' ? value.slice(0, MAX_LOGGED_CHARS) : undefined
}

/** What may be told of a token: key id, issuer and a hash of the subject; unverified, so it is a hint only. */
function tokenFacts(req: Request): object {
  try {
    const credential = credentialOf(req.rawHeaders)
    if (credential === undefined) return {}
    const { header, payload } = decodeToken(tokenOf(credential))
    const claims = isJsonObject(payload) ? payload : {}
    const sub = claim(claims, 'sub')
    return {
      kid: short(header.kid),
      iss: short(claim(claims, 'iss')),
      subHash: typeof sub === 'string' ? hash('sha256', sub, 'base64url').slice(0, 16) : undefined,
    }
  } catch (error) {
    if (error instanceof TokenError) return {}
    throw error
  }
}

/**
 * Writes one line for a refusal: reason code and what may be told of the token, never the token itself. Faults of the
 * server are errors; a request without a credential is only worth a debug line.
 */
export function logRefusal(log: Log, req: Request, refusal: Refusal): void {
  const { reason, level, error } = refusal
  const fields = { reqId: req.id, reason, routeLevel: level, ...tokenFacts(req) }
  if (reason === 'unexpected') {
    log.error({ ...fields, err: error }, 'the token could not be judged')
    return
  }
  const detail = error instanceof Error ? error.message : undefined
  if (REFUSALS[reason].status === 500) log.error({ ...fields, detail }, 'auth is misconfigured')
  else if (reason === 'credential_missing') log.debug(fields, 'request refused')
  else log.info({ ...fields, detail }, 'request refused')
}
