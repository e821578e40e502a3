import { type Request, type Response, Router } from 'express'
import type { z } from 'zod'
import { answerJson, type Operation, operation } from '../../http/index.ts'
import { PublicJwkError, parsePublicJwk } from '../../keys/index.ts'
import { answerIssuerErrors, forbidStoring, isoTime, readArguments } from '../answers.ts'
import type { Caller } from '../caller.ts'
import { callerClaims, mayManageKeys, serviceClaims } from '../claims.ts'
import { IssuerError } from '../errors.ts'
import type { IssuerParts } from '../parts.ts'
import {
  activeKeyShape,
  claimsShape,
  errorShape,
  keyRowShape,
  noArguments,
  revokeArguments,
  serviceArguments,
  upsertArguments,
} from '../shapes.ts'
import type { KeyRow } from '../store.ts'

/** PostgREST's address of functions, so that `supabase.rpc()` works unmodified. */
const RPC_PREFIX = '/rest/v1/rpc/'

/** Who may call a function. `caller` is undefined where nobody has to be known. */
type Gate = (parts: IssuerParts, caller: Caller) => boolean | Promise<boolean>

/** One function of the seed's table "Database". */
interface RpcFunction<S extends z.ZodType = z.ZodType> {
  readonly name: string
  readonly arguments: S
  readonly result: z.ZodType
  readonly about: string
  /** Absent for a function that anyone may call. */
  readonly gate?: Gate
  readonly run: (parts: IssuerParts, args: z.output<S>, caller: Caller | undefined) => unknown
}

/** Keeps the type of the arguments while the table forgets it. */
function rpcFunction<S extends z.ZodType>(one: RpcFunction<S>): RpcFunction {
  return { ...one, run: (parts, args, caller) => one.run(parts, one.arguments.parse(args), caller) }
}

const keyManagers: Gate = (parts, caller) => mayManageKeys(parts.store, caller)

function rowAnswer({ kid, jwk, createdAtMs, revokedAtMs }: KeyRow) {
  const revokedAt = revokedAtMs === null ? null : isoTime(revokedAtMs)
  return { kid, jwk, created_at: isoTime(createdAtMs), revoked_at: revokedAt }
}

async function upsertKey(
  { registry, log }: IssuerParts,
  { kid, jwk }: z.output<typeof upsertArguments>,
): Promise<unknown> {
  if (jwk.kid !== undefined && jwk.kid !== kid) {
    throw new IssuerError('invalid_argument', 'kid differs from the kid of jwk')
  }
  try {
    const row = await registry.upsert(parsePublicJwk({ ...jwk, kid }))
    log.info({ kid }, 'public key registered')
    return rowAnswer(row)
  } catch (error) {
    if (error instanceof PublicJwkError) throw new IssuerError('invalid_argument', error.message)
    throw error
  }
}

async function revokeKey({ registry, log }: IssuerParts, kid: string): Promise<unknown> {
  const row = await registry.revoke(kid)
  if (!row) throw new IssuerError('not_found', 'Unknown kid')
  log.info({ kid }, 'public key revoked')
  return rowAnswer(row)
}

const FUNCTIONS: readonly RpcFunction[] = [
  rpcFunction({
    name: 'get_pubsub_jwt_public_keys',
    arguments: noArguments,
    result: activeKeyShape.array(),
    about: 'The active keys, oldest first.',
    run: ({ registry }) =>
      registry.active().map((row) => {
        const { revoked_at: _active, ...rest } = rowAnswer(row)
        return rest
      }),
  }),
  rpcFunction({
    name: 'upsert_pubsub_jwt_public_key',
    arguments: upsertArguments,
    result: keyRowShape,
    about: 'The row; the kid is active from now on.',
    gate: keyManagers,
    run: upsertKey,
  }),
  rpcFunction({
    name: 'revoke_pubsub_jwt_public_key',
    arguments: revokeArguments,
    result: keyRowShape,
    about: 'The row; tokens of this kid are refused from now on.',
    gate: keyManagers,
    run: (parts, { kid }) => revokeKey(parts, kid),
  }),
  rpcFunction({
    name: 'get_pubsub_token_claims',
    arguments: noArguments,
    result: claimsShape.nullable(),
    about: 'What a token minted for the caller would allow; null for nothing.',
    gate: (_parts, caller) => caller.kind !== 'service',
    run: ({ store }, _args, caller) =>
      caller === undefined || caller.kind === 'service' ? null : callerClaims(store, caller),
  }),
  rpcFunction({
    name: 'get_service_pubsub_token_claims',
    arguments: serviceArguments,
    result: claimsShape,
    about: 'What a token minted for a service would allow on these herds.',
    gate: (_parts, caller) => caller.kind === 'service',
    run: (_parts, { herd_ids: ids }) => serviceClaims(ids),
  }),
]

const refusal = (about: string) => ({ about, json: errorShape.loose() })

function describe(one: RpcFunction): Operation {
  return operation({
    method: 'POST',
    path: `${RPC_PREFIX}${one.name}`,
    body: one.arguments,
    bodyOptional: one.arguments === noArguments,
    answers: {
      200: { about: one.about, json: one.result },
      400: refusal('A bad argument.'),
      ...(one.gate && { 401: refusal('No or bad credential.') }),
      ...(one.gate && { 403: refusal('The caller has not the right.') }),
      ...(one.arguments === revokeArguments && { 404: refusal('Unknown kid.') }),
    },
  })
}

/** The functions for the API document. */
export const RPC_OPERATIONS: readonly Operation[] = FUNCTIONS.map(describe)

async function admit(
  parts: IssuerParts,
  gate: Gate | undefined,
  req: Request,
): Promise<Caller | undefined> {
  if (!gate) return undefined
  const caller = await parts.callers.read(req.headersDistinct)
  if (!(await gate(parts, caller))) throw new IssuerError('forbidden')
  return caller
}

async function call(
  parts: IssuerParts,
  one: RpcFunction,
  req: Request,
  res: Response,
): Promise<void> {
  forbidStoring(res)
  const caller = await admit(parts, one.gate, req)
  const args = await readArguments(req, res, one.arguments)
  answerJson(res, 200, await one.run(parts, args, caller))
}

/** `POST /rest/v1/rpc/{name}` (token issuing, 1.4). Refusals also carry `message`, which the client library reads. */
export function rpcRouter(parts: IssuerParts): Router {
  const router = Router({ caseSensitive: true, strict: true })
  for (const one of FUNCTIONS) {
    router.post(`${RPC_PREFIX}${one.name}`, (req, res) => call(parts, one, req, res))
  }
  router.use(
    answerIssuerErrors(parts.log, (error) => ({ message: error.message, code: error.code })),
  )
  return router
}
