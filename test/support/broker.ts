import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { z } from 'zod'
import { type Broker, startBroker } from '../../src/assembly/broker.ts'
import { loadConfig } from '../../src/config/index.ts'
import { createLog } from '../../src/http/index.ts'
import type { Operation } from '../../src/http/operation.ts'
import { type Caller, callerOf, type Reply } from './caller.ts'
import { startChildBroker } from './child-broker.ts'
import { HS_SECRET } from './keys.ts'
import { startRoundRobin } from './round-robin.ts'
import { dropStore, storeSettings } from './test-store.ts'
import { mint } from './tokens.ts'

export { type Call, type Caller, callerOf, type Reply } from './caller.ts'

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

/** How many brokers stand behind a URL: 2 = one more, in a process of its own on the same database, in turns. */
export const BROKERS = process.env['HIVEGATE_TEST_BROKERS'] === '2' ? 2 : 1

/** Starts the second broker, and a front that hands requests to both in turn. */
async function withSecondBroker(settings: Readonly<Record<string, string>>, firstPort: number) {
  const second = await startChildBroker(settings)
  const front = await startRoundRobin([firstPort, second.port])
  return {
    port: front.port,
    async stop() {
      await front.close()
      second.signal('SIGTERM')
      await second.exited
    },
  }
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
  const pair = BROKERS === 2 ? await withSecondBroker(settings, broker.port) : undefined
  const port = pair?.port ?? broker.port
  const url = `http://127.0.0.1:${port}`
  return {
    url,
    port,
    broker,
    dataDir,
    lines,
    call: callerOf(url),
    async stop() {
      await pair?.stop()
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
