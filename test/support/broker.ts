import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { z } from 'zod'
import { type Broker, startBroker } from '../../src/assembly/broker.ts'
import { loadConfig } from '../../src/config/index.ts'
import { createLog } from '../../src/http/index.ts'
import type { Operation } from '../../src/http/operation.ts'
import { HS_SECRET } from './keys.ts'
import { dropStore, storeSettings } from './test-store.ts'
import { mint } from './tokens.ts'

/** What a request to a broker may say. `json` is sent as it is when it is text. */
export interface Call {
  readonly token?: string
  readonly json?: unknown
  readonly headers?: Readonly<Record<string, string>>
  readonly signal?: AbortSignal
}

/** An answer, read whole; `body` is undefined when there was none. */
export interface Reply {
  readonly status: number
  readonly headers: Headers
  // Tests look into answers freely; each assertion says what it expects.
  // biome-ignore lint/suspicious/noExplicitAny: the body of an answer under test
  readonly body: any
}

/** A way to call a broker at `url`. */
export type Caller = (route: string, call?: Call) => Promise<Reply>

/** Calls `METHOD /path` of the broker at `url` over real HTTP. */
export function callerOf(url: string): Caller {
  return async (route, { token, json, headers = {}, signal } = {}) => {
    const [method = 'GET', path = '/'] = route.split(/ (.*)/s)
    const answer = await fetch(`${url}${path}`, {
      method,
      redirect: 'manual',
      headers: {
        'content-type': 'application/json',
        ...(token !== undefined && { authorization: `Bearer ${token}` }),
        ...headers,
      },
      ...(json !== undefined && { body: typeof json === 'string' ? json : JSON.stringify(json) }),
      ...(signal && { signal }),
    })
    const text = await answer.text()
    const isJson = answer.headers.get('content-type') === 'application/json'
    const content: unknown = isJson && text !== '' ? JSON.parse(text) : text
    const body = content === '' ? undefined : content
    return { status: answer.status, headers: answer.headers, body }
  }
}

/** A broker in this process on a free port and a data folder of its own. */
export interface TestBroker {
  readonly url: string
  readonly port: number
  readonly broker: Broker
  readonly dataDir: string
  /** Everything that was logged. */
  readonly lines: string[]
  readonly call: Caller
  /** Stops the broker and removes its data. */
  stop(): Promise<void>
}

/** Starts a broker with this environment; JWT is off unless the environment turns it on. */
export async function startTestBroker(
  env: Readonly<Record<string, string>> = {},
): Promise<TestBroker> {
  const dataDir = await mkdtemp(join(tmpdir(), 'hivegate-'))
  const lines: string[] = []
  const log = createLog('info', { write: (line) => lines.push(line) })
  const usual = { HOST: '127.0.0.1', PORT: '0', DATA_DIR: dataDir, DRAIN_TIMEOUT: '5s' }
  const settings = { ...usual, ...(await storeSettings(env['DATA_DIR'] ?? dataDir)), ...env }
  const broker = await startBroker(loadConfig(settings), { log })
  const url = `http://127.0.0.1:${broker.port}`
  return {
    url,
    port: broker.port,
    broker,
    dataDir,
    lines,
    call: callerOf(url),
    async stop() {
      await broker.stop()
      await dropStore(dataDir)
      await rm(dataDir, { recursive: true, force: true })
    },
  }
}

/** The environment of a broker that checks tokens signed with the fixture secret. */
export const JWT_ON = { JWT_ENABLED: 'true', JWT_SECRET: HS_SECRET } as const

/** A good token of one role that never expires; for brokers on the real clock. */
export function lastingToken(role: string, sub = 'tester'): string {
  return mint({ claims: { role, sub, iat: undefined, exp: undefined } })
}

/**
 * Checks an answer against the operation's own description, which is strict: exactly these keys, of these types.
 * Gives the body for further assertions.
 */
export function described(operation: Operation, status: number, reply: Reply): Reply['body'] {
  if (reply.status !== status) {
    throw new Error(`got ${reply.status} ${JSON.stringify(reply.body)}, expected ${status}`)
  }
  const schema: z.ZodType | undefined = operation.answers[status]?.json
  if (schema === undefined) throw new Error(`${operation.path} describes no JSON for ${status}`)
  const result = schema.safeParse(reply.body)
  if (!result.success) {
    throw new Error(`${JSON.stringify(reply.body)} is not as described: ${result.error.message}`)
  }
  return reply.body
}
