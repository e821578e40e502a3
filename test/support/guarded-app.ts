import http from 'node:http'
import { afterEach } from 'vitest'
import { brokerAuth, loadAuthConfig } from '../../src/auth.ts'
import { type FakeClock, fakeClock } from './clock.ts'
import { startApp } from './express-app.ts'
import { HS_SECRET } from './keys.ts'
import { mint } from './tokens.ts'

/** An answer, read whole. `body` is parsed JSON where the answer is JSON, else its text. */
export interface Answer {
  readonly status: number
  readonly body: unknown
  readonly headers: Headers
}

/** What a request to a guarded app may say; a `token` becomes `Authorization: Bearer …`. */
export interface Ask {
  readonly method?: string
  readonly token?: string | undefined
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
}

/** A bare Express app behind `brokerAuth`, whose one handler records that it ran. */
export interface GuardedApp {
  readonly url: string
  readonly port: number
  readonly clock: FakeClock
  /** `METHOD /target` of every request that reached the handler behind the gate. */
  readonly reached: readonly string[]
  /** Sends one request; the handler answers 200 `{"auth": req.auth}`. */
  ask(path: string, ask?: Ask): Promise<Answer>
}

type AuthOptions = NonNullable<Parameters<typeof brokerAuth>[1]>

const open: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const close of open.splice(0)) await close()
})

/** Runs `close` after the present test. */
export function closeAfterTest(close: () => Promise<void>): void {
  open.push(close)
}

const agent = new http.Agent({ keepAlive: true, maxSockets: 100 })

/** Sends one request and reads the answer whole; redirects are not followed. */
export function send(url: string, ask: Ask = {}): Promise<Answer> {
  const { method = 'GET', token, headers = {}, body = '' } = ask
  const credential = token === undefined ? {} : { authorization: `Bearer ${token}` }
  const length = body === '' ? {} : { 'content-length': Buffer.byteLength(body) }
  return new Promise((resolve, reject) => {
    const options = { method, agent, headers: { ...credential, ...length, ...headers } }
    const request = http.request(url, options, (response) => {
      let text = ''
      response.setEncoding('utf8')
      response.on('error', reject)
      response.on('data', (chunk: string) => {
        text += chunk
      })
      response.on('end', () => resolve(answerOf(response, text)))
    })
    request.on('error', reject)
    request.end(body)
  })
}

function answerOf(response: http.IncomingMessage, text: string): Answer {
  const headers = new Headers()
  for (const [name, values] of Object.entries(response.headersDistinct)) {
    for (const value of values ?? []) headers.append(name, value)
  }
  const json = headers.get('content-type')?.startsWith('application/json') && text !== ''
  const body: unknown = json ? JSON.parse(text) : text
  return { status: response.statusCode ?? 0, headers, body }
}

/** The environment of most tests: JWT on, HS256 with the fixture secret; `env` replaces or adds. */
export function jwtEnvironment(env: Readonly<Record<string, string>> = {}): Record<string, string> {
  return { JWT_ENABLED: 'true', JWT_SECRET: HS_SECRET, ...env }
}

/** Starts a guarded app under this environment and fake clock; it is closed after the test. */
export async function guardedApp(
  env: Readonly<Record<string, string>> = {},
  options: AuthOptions = {},
): Promise<GuardedApp> {
  const clock = fakeClock()
  const reached: string[] = []
  const gate = brokerAuth(loadAuthConfig(jwtEnvironment(env)), { clock, logger: false, ...options })
  const app = await startApp((express) => {
    express.use(gate)
    express.use((req, res) => {
      reached.push(`${req.method} ${req.originalUrl}`)
      res.json({ auth: req.auth })
    })
  })
  closeAfterTest(app.close)
  return { ...app, clock, reached, ask: (path, ask) => send(`${app.url}${path}`, ask) }
}

/** The roles of the seed, and `undefined`: no token at all. */
export const ROLES = ['read-only', 'write-only', 'read-write', 'admin'] as const
export type Level = 'public' | (typeof ROLES)[number]

const ROLE_TOKENS = new Map(ROLES.map((role) => [role, mint({ claims: { role } })]))

/** Seed, "Access levels are a role set, not a ladder": who passes which level. */
export const PASSED_BY: Readonly<Record<Level, readonly string[]>> = {
  public: ROLES,
  'read-only': ['read-only', 'read-write', 'admin'],
  'write-only': ['write-only', 'read-write', 'admin'],
  'read-write': ['read-write', 'admin'],
  admin: ['admin'],
}

/**
 * Tells from the outside at which level a method and path stand: asks without a token and with each
 * role, and names the level whose row of the seed's table fits the answers exactly.
 */
export async function observedLevel(
  app: GuardedApp,
  method: string,
  path: string,
): Promise<Level | string> {
  const tokens = [undefined, ...ROLES.map((role) => ROLE_TOKENS.get(role))]
  const answers = await Promise.all(tokens.map((token) => app.ask(path, { method, token })))
  const [anonymous, ...statuses] = answers.map((answer) => answer.status)
  const strange = statuses.findIndex((status) => status !== 200 && status !== 403)
  if (strange !== -1) return `${ROLES[strange]} got ${statuses[strange]}`
  const passed = ROLES.filter((_role, i) => statuses[i] === 200)
  if (anonymous === 200) return passed.length === ROLES.length ? 'public' : 'unclear'
  if (anonymous !== 401) return `no token got ${anonymous}`
  const level = Object.entries(PASSED_BY).find(([, roles]) => String(roles) === String(passed))
  return level?.[0] === 'public' ? 'any role' : (level?.[0] ?? `passed by ${passed.join()}`)
}
