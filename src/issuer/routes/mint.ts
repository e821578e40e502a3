import { type Request, type Response, Router } from 'express'
import { answerJson, operation } from '../../http/index.ts'
import { forbidStoring, readArguments } from '../answers.ts'
import { callerClaims, serviceClaims, type TokenClaims } from '../claims.ts'
import { IssuerError } from '../errors.ts'
import { mintPathToken } from '../minter.ts'
import type { IssuerParts } from '../parts.ts'
import { errorShape, mintBody, mintShape } from '../shapes.ts'

/** The path of the Supabase edge function, so that `functions.invoke('mint-pubsub-token')` works unmodified. */
export const MINT_PATH = '/functions/v1/mint-pubsub-token'

const refusal = (about: string) => ({ about, json: errorShape })

/** The mint endpoint for the API document. */
export const MINT_OPERATION = operation({
  method: 'POST',
  path: MINT_PATH,
  body: mintBody,
  bodyOptional: true,
  answers: {
    200: { about: 'A token with the claims of the caller.', json: mintShape },
    400: refusal('A service call without a usable herd_ids.'),
    401: refusal('No or bad credential, or a user without stream abilities.'),
    503: refusal('PUBSUB_JWT_PRIVATE_JWK is not set, or its key was revoked.'),
  },
})

/** Resolves the claims as the caller (seed "Pub/sub tokens": Flow); `herd_ids` counts for a service only. */
async function claimsFor(
  parts: IssuerParts,
  req: Request,
  res: Response,
): Promise<TokenClaims | null> {
  const caller = await parts.callers.read(req.headersDistinct)
  if (caller.kind !== 'service') return callerClaims(parts.store, caller)
  const { herd_ids: ids } = await readArguments(req, res, mintBody)
  if (ids === undefined) throw new IssuerError('invalid_argument', 'Invalid argument: herd_ids')
  return serviceClaims(ids)
}

/** `POST /functions/v1/mint-pubsub-token` (token issuing, 1.5). */
export function mintRouter(parts: IssuerParts): Router {
  const { minter, registry, log } = parts
  const router = Router({ caseSensitive: true, strict: true })
  router.post(MINT_PATH, async (req, res) => {
    forbidStoring(res)
    const claims = await claimsFor(parts, req, res)
    if (claims === null) throw new IssuerError('no_claims')
    if (!minter) throw new IssuerError('minting_off')
    if (registry.find(minter.key.kid) === undefined) {
      // A token under a revoked key would be refused everywhere: better no token than a useless one.
      log.error({ kid: minter.key.kid }, 'minting refused: the signing key is revoked')
      throw new IssuerError('minting_off')
    }
    answerJson(res, 200, await mintPathToken(minter, claims))
  })
  return router
}
