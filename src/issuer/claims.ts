import type { Caller } from './caller.ts'
import type { IssuerStore } from './store.ts'

/** What one token will allow; `iat` and `exp` are added when it is signed. */
export interface TokenClaims {
  readonly root: string
  readonly put: readonly string[]
  readonly get: readonly string[]
}

/** Herd ids are whole paths, so minted tokens need no base namespace. */
const ROOT = ''
/** The empty prefix unlocks the full path tree (seed "Pub/sub tokens"). */
const WHOLE_TREE = ['']

/** `get_service_pubsub_token_claims(herd_ids)`: publish only, on the explicit scope. */
export function serviceClaims(herdIds: readonly string[]): TokenClaims {
  return { root: ROOT, put: herdIds, get: [] }
}

/** What a user's grants amount to; null for a user who may neither publish nor subscribe. */
async function userClaims(
  store: Pick<IssuerStore, 'userGrants'>,
  user: string,
): Promise<TokenClaims | null> {
  const { superadmin, write, read } = await store.userGrants(user)
  if (superadmin) return { root: ROOT, put: WHOLE_TREE, get: WHOLE_TREE }
  return write.length + read.length > 0 ? { root: ROOT, put: write, get: read } : null
}

/** `get_pubsub_token_claims()`, with the rights of the caller; null when there is nothing to grant. */
export async function callerClaims(
  store: Pick<IssuerStore, 'userGrants'>,
  caller: Exclude<Caller, { kind: 'service' }>,
): Promise<TokenClaims | null> {
  if (caller.kind === 'user') return userClaims(store, caller.user)
  return { root: ROOT, put: [caller.herdId], get: [caller.herdId] }
}

/** Whether a caller may register and revoke keys: the service, or a user marked superadmin. */
export async function mayManageKeys(
  store: Pick<IssuerStore, 'userGrants'>,
  caller: Caller,
): Promise<boolean> {
  if (caller.kind === 'service') return true
  return caller.kind === 'user' && (await store.userGrants(caller.user)).superadmin
}
