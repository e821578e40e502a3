import { type Level, type RouteTable, rolesFor } from '../../access/index.ts'
import type { AuthConfig } from '../../config/index.ts'
import { credentialOf } from './credential.ts'
import { EMPTY_IDENTITY, type Identity } from './identity.ts'
import { type RefusalReason, reasonOf } from './refusals.ts'
import { type Ruling, Rulings } from './rulings.ts'
import type { Trace } from './trace.ts'
import type { TokenVerifier, VerifiedToken } from './verifier.ts'

/** Why a request passes. */
export type PassReason = 'auth_off' | 'skipped' | 'public' | 'role_held'

/** The level that decided; `none` where none was asked for. */
export type DecisionLevel = Level | 'none'

/** What the gate decided. */
export type Decision =
  | {
      readonly outcome: 'allowed'
      readonly reason: PassReason
      readonly level: DecisionLevel
      readonly identity: Identity
    }
  | {
      readonly outcome: 'refused'
      readonly reason: RefusalReason
      readonly level: DecisionLevel
      /** What went wrong, for the log. */
      readonly error?: unknown
      /** Who was refused, if the token was good. */
      readonly identity?: Identity
    }

function pass(reason: PassReason, level: DecisionLevel): Decision {
  return Object.freeze({ outcome: 'allowed', reason, level, identity: EMPTY_IDENTITY })
}

/** With auth off every request passes, as nobody. */
export const AUTH_OFF = pass('auth_off', 'none')
const SKIPPED = pass('skipped', 'none')
const PUBLIC = pass('public', 'public')

/** The rules of one mounted gate: which level a request needs, and what is decided about it. */
export class Gate {
  readonly #enabled: boolean
  /** What the rules say about a method and a path. */
  readonly rulings: Rulings
  readonly #verifier: TokenVerifier

  /** @param target the table that classifies, or one level for every path */
  constructor(config: AuthConfig, target: RouteTable | Level, verifier: TokenVerifier) {
    this.#enabled = config.enabled
    this.rulings = new Rulings(config.skipPaths, target)
    this.#verifier = verifier
  }

  /**
   * Decides about a request, at once unless a token has to be verified for the first time. Nothing else of a request
   * counts. Order (design): auth off, skip path, public, then the token. Rejects only with errors that are no judgement.
   * @param ruling what the rules say about its method and path
   * @param rawHeaders names and values in turn, as `IncomingMessage.rawHeaders`
   */
  decide(
    { skipped, levels }: Ruling,
    rawHeaders: readonly string[],
    trace?: Trace,
  ): Decision | Promise<Decision> {
    if (!this.#enabled) {
      trace?.({ name: 'JWT_ENABLED', verdict: 'pass', detail: 'false: every request passes' })
      return AUTH_OFF
    }
    trace?.({ name: 'skip', verdict: 'note', detail: skipped ? 'on the skip list' : 'not skipped' })
    if (skipped) return SKIPPED
    trace?.({ name: 'level', verdict: 'note', detail: levels.join(' and ') })
    const [first = 'admin'] = levels
    if (levels.length === 1 && first === 'public') return PUBLIC
    return this.#judge(rawHeaders, levels, first, trace)
  }

  #judge(
    rawHeaders: readonly string[],
    levels: readonly Level[],
    level: Level,
    trace?: Trace,
  ): Decision | Promise<Decision> {
    try {
      const credential = credentialOf(rawHeaders)
      if (credential === undefined) {
        trace?.({ name: 'credential', verdict: 'fail', detail: 'there is none' })
        return { outcome: 'refused', reason: 'credential_missing', level }
      }
      trace?.({ name: 'credential', verdict: 'pass', detail: 'one Authorization header' })
      const verified = this.#verifier.verify(credential, trace)
      if (!(verified instanceof Promise)) return decideByRole(verified, levels, trace)
      return verified.then(
        (result) => decideByRole(result, levels, trace),
        (error: unknown) => refusal(error, level),
      )
    } catch (error) {
      return refusal(error, level)
    }
  }
}

function refusal(error: unknown, level: Level): Decision {
  return { outcome: 'refused', reason: reasonOf(error) ?? 'unexpected', level, error }
}

/** The last step: every level that the path may mean has to be open to the roles held. */
function decideByRole(
  { identity, opens }: VerifiedToken,
  levels: readonly Level[],
  trace?: Trace,
): Decision {
  const [first = 'admin'] = levels
  const closed = levels.find((level) => !opens.has(level))
  const level = closed ?? first
  trace?.({
    name: 'roles',
    verdict: closed === undefined ? 'pass' : 'fail',
    detail: `held: ${identity.roles.join(', ') || 'none'}; wanted for ${level}: one of ${[...rolesFor(level)].join(', ')}`,
  })
  return closed === undefined
    ? { outcome: 'allowed', reason: 'role_held', level, identity }
    : { outcome: 'refused', reason: 'role_missing', level, identity }
}
