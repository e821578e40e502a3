import { z } from 'zod'
import { loadPubsubConfig } from '../config/index.ts'
import { readArgument } from './key-argument.ts'

/** A broker that does not answer is reported, not waited for. */
const TIMEOUT_MS = 10_000

/** Where the running broker is and how the command shows itself. */
export interface RegistryOptions {
  readonly url: string
  readonly serviceKey?: string
}

const keys = z.array(
  z.looseObject({
    kid: z.string(),
    created_at: z.string(),
    jwk: z.looseObject({ alg: z.string() }),
  }),
)
const refusal = z.looseObject({ error: z.string() })

/** A key as the registry lists it. */
export type ListedKey = z.output<typeof keys>[number]

function serviceKey({ serviceKey: given }: RegistryOptions): string {
  const key =
    given === undefined ? loadPubsubConfig().serviceRoleKey : readArgument('--service-key', given)
  if (key === '') throw new Error('set PUBSUB_SERVICE_ROLE_KEY or give --service-key')
  return key
}

/** Calls one function of the registry through the RPC routes. @throws Error in one line, without the key */
async function call(
  { url }: RegistryOptions,
  name: string,
  args: object,
  key?: string,
): Promise<unknown> {
  const answer = await fetch(`${url.replace(/\/+$/, '')}/rest/v1/rpc/${name}`, {
    method: 'POST',
    // A redirect would carry the service key to a host that nobody named.
    redirect: 'error',
    signal: AbortSignal.timeout(TIMEOUT_MS),
    headers: { 'content-type': 'application/json', ...(key !== undefined && { apikey: key }) },
    body: JSON.stringify(args),
  }).catch((cause: unknown) => {
    throw new Error('the broker at --url does not answer', { cause })
  })
  const body: unknown = await answer.json().catch(() => undefined)
  if (answer.ok) return body
  const { data } = refusal.safeParse(body)
  throw new Error(`the broker answered ${answer.status}${data ? `: ${data.error}` : ''}`)
}

/** The active keys, oldest first; anyone may read them. */
export async function listKeys(options: RegistryOptions): Promise<readonly ListedKey[]> {
  const parsed = keys.safeParse(await call(options, 'get_pubsub_jwt_public_keys', {}))
  if (parsed.success) return parsed.data
  throw new Error('what answers at --url is no key registry')
}

/** Registers a public key; needs the service key. */
export async function upsertKey(options: RegistryOptions, kid: string, jwk: object): Promise<void> {
  await call(options, 'upsert_pubsub_jwt_public_key', { kid, jwk }, serviceKey(options))
}

/** Revokes a key; needs the service key. */
export async function revokeKey(options: RegistryOptions, kid: string): Promise<void> {
  await call(options, 'revoke_pubsub_jwt_public_key', { kid }, serviceKey(options))
}
