import { mkdtempSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Writable } from 'node:stream'
import { createClient, type SupabaseClient } from '@supabase/supabase-js'
import { loadConfig } from '../../src/config/index.ts'
import { createLog } from '../../src/http/log.ts'
import { type Issuer, type IssuerStore, openIssuer } from '../../src/issuer/index.ts'
import { startApp } from '../support/express-app.ts'
import { openKeptStores } from '../support/kept-stores.ts'
import { ecKey, HS_SECRET } from '../support/keys.ts'
import { dropStore } from '../support/test-store.ts'
import { mint } from '../support/tokens.ts'

/** The service key of the tests: easy to find where it must not be. */
export const SERVICE_KEY = 'service-fixture-0123456789abcdef'
/** The project key that a browser client would carry: it is no credential here. */
export const ANON_KEY = 'anon-fixture'

/** The minting key of the tests, an ES256 private JWK. */
export const MINTING_JWK = ecKey('mint-1').privateJwk({ alg: 'ES256' })

/** An issuer on a real port and a real store. */
export interface IssuerApp {
  readonly url: string
  readonly issuer: Issuer
  readonly store: IssuerStore
  readonly dataDir: string
  /** Everything that was logged, as text. */
  log(): string
  /** One administration call below `/api/v1/system/pubsub`. */
  admin(method: string, path: string, body?: unknown): Promise<Response>
  /** A device of a herd; both are made if absent. */
  device(herd: string): Promise<{ id: string; api_key: string }>
  /** Creates the herd if absent and grants the abilities `read` and `write`. */
  grant(user: string, herd: string, ...abilities: readonly ('read' | 'write')[]): Promise<void>
  /** A client as a caller would make it; `key` is its project key, `session` its user's token. */
  client(key: string, session?: string): SupabaseClient
  close(): Promise<void>
  /** Closes without removing the data. */
  stop(): Promise<void>
}

/** How an issuer is started. */
export interface IssuerSetup {
  readonly env?: Readonly<Record<string, string>>
  readonly clock?: { now(): number }
  readonly dataDir?: string
}

/** A session token of a user; `claims` override. */
export function session(user: string, claims: Readonly<Record<string, unknown>> = {}): string {
  return mint({ claims: { sub: user, role: 'authenticated', iat: undefined, ...claims } })
}

/** The JSON object of an answer. */
export async function objectOf(answer: Response): Promise<Record<string, unknown>> {
  return JSON.parse(await answer.text())
}

/** Header and payload of a compact token, unverified. */
export function partsOf(token: string): readonly Record<string, unknown>[] {
  const [header = '', payload = ''] = token.split('.')
  return [header, payload].map((part) => JSON.parse(Buffer.from(part, 'base64url').toString()))
}

/** Starts an issuer; the environment has every setting unless `env` says otherwise (empty: not set). */
export async function startIssuer({
  env,
  clock = Date,
  dataDir,
}: IssuerSetup = {}): Promise<IssuerApp> {
  const folder = dataDir ?? mkdtempSync(join(tmpdir(), 'hivegate-issuer-'))
  const lines: string[] = []
  const sink = new Writable({
    write(chunk, _encoding, done) {
      lines.push(String(chunk))
      done()
    },
  })
  const log = createLog('debug', sink)
  const { pubsub: config } = loadConfig({
    PUBSUB_JWT_PRIVATE_JWK: JSON.stringify(MINTING_JWK),
    PUBSUB_SERVICE_ROLE_KEY: SERVICE_KEY,
    PUBSUB_SESSION_JWT_SECRET: HS_SECRET,
    ...env,
  })
  const kept = await openKeptStores(folder)
  const store = kept.issuer
  const issuer = await openIssuer({ config, store, clock, log }).catch(async (error: unknown) => {
    await kept.close()
    throw error
  })
  const app = await startApp((express) => express.use(issuer.router))
  const admin: IssuerApp['admin'] = (method, path, body) =>
    fetch(`${app.url}/api/v1/system/pubsub${path}`, {
      method,
      ...(body !== undefined && { body: JSON.stringify(body) }),
      headers: { 'content-type': 'application/json' },
    })
  const stop = async () => {
    await app.close()
    issuer.close()
    await kept.close()
  }
  return {
    url: app.url,
    issuer,
    store,
    dataDir: folder,
    log: () => lines.join(''),
    admin,
    async device(herd) {
      await admin('POST', '/herds', { id: herd })
      const answer = await admin('POST', '/devices', { herd_id: herd, name: 'camera' })
      return JSON.parse(await answer.text())
    },
    async grant(user, herd, ...abilities) {
      await admin('POST', '/herds', { id: herd })
      for (const ability of abilities) {
        const names = [user, 'herds', herd, `realtime_streams.${ability}`].map(encodeURIComponent)
        await admin('PUT', `/users/${names.join('/')}`)
      }
    },
    client: (key, token) =>
      createClient(app.url, key, token === undefined ? {} : { accessToken: async () => token }),
    stop,
    async close() {
      await stop()
      await dropStore(folder)
      await rm(folder, { recursive: true })
    },
  }
}

/** What `functions.invoke('mint-pubsub-token')` gave: the status and the body. */
export async function invokeMint(
  client: SupabaseClient,
  body?: Record<string, unknown>,
): Promise<{ status: number; body: Record<string, unknown> }> {
  const { data, error, response } = await client.functions.invoke('mint-pubsub-token', {
    ...(body && { body }),
  })
  if (error === null) return { status: response?.status ?? 0, body: data }
  return { status: response?.status ?? 0, body: response ? await objectOf(response) : {} }
}
