import { Command, type CommanderError } from 'commander'
import { brokerRouteTable, pathOf } from '../access/index.ts'
import { ConfigError, loadAuthConfig, loadHubConfig, loadPubsubConfig } from '../config/index.ts'
import {
  type Decision,
  Gate,
  REFUSALS,
  roleKeys,
  TokenVerifier,
  type TraceStep,
} from '../http/index.ts'
import { type Log, NO_LOG, publicHalf } from '../keys/index.ts'
import { readArgument } from './key-argument.ts'

const EXIT_REFUSED = 1
const EXIT_USAGE = 2

/** Paths on which the hub itself asks for a token; the gate lets them through. */
const HUB_TARGET = /^\/\.well-known\/mercure(?:\/subscriptions(?:\/.*)?)?$/

/** Longest detail printed: a claim may be as long as a token. */
const MAX_DETAIL_CHARS = 160
const MARKS = { pass: 'ok', fail: 'NO', note: '--' } as const

/** What could not be understood: the command line, the environment or a file. */
class UsageError extends Error {}

function line({ name, verdict, detail }: TraceStep): string {
  const text = detail.length > MAX_DETAIL_CHARS ? `${detail.slice(0, MAX_DETAIL_CHARS)}…` : detail
  return `  ${MARKS[verdict]}  ${name.padEnd(11)} ${text}\n`
}

function outcome(decision: Decision): string {
  if (decision.outcome === 'allowed') return `allowed (${decision.reason})`
  const { status, text } = REFUSALS[decision.reason]
  return `refused: ${status} ${text} (${decision.reason})`
}

/** The key set's own log lines are steps of the story, too. */
function logInto(print: (step: TraceStep) => void): Log {
  const note = (fields: object, message: string): void => {
    const detail = 'detail' in fields ? `${message}: ${String(fields.detail)}` : message
    print({ name: 'key set', verdict: 'note', detail })
  }
  return { ...NO_LOG, info: note, warn: note, error: note }
}

interface Question {
  readonly method: string
  readonly target: string
  /** What would stand in `Authorization`. */
  readonly token?: string
}

interface ExplainOptions {
  readonly token?: string
  readonly topic: readonly string[]
  readonly origin: string
}

/** Asks the broker's own gate, under the current environment, and prints each step it takes. */
async function explain(question: Question, print: (step: TraceStep) => void): Promise<Decision> {
  const config = loadAuthConfig()
  const keys = roleKeys(config, logInto(print), Date)
  try {
    await keys.ready
    const gate = new Gate(config, brokerRouteTable(), new TokenVerifier(config, keys, Date))
    const { method, target, token } = question
    const rawHeaders = token === undefined ? [] : ['Authorization', token]
    const ruling = gate.rulings.of({ method, path: pathOf(target), loose: false })
    return await gate.decide(ruling, rawHeaders, print)
  } finally {
    keys.close()
  }
}

/**
 * The hub's second dialect as far as it can be known here: by the key that this environment mints with. The
 * register of other keys is in the broker's store.
 */
async function pathTokens(print: (step: TraceStep) => void) {
  const { hub, mintingKey } = loadPubsubConfig()
  if (!hub) return undefined
  const { fixedKeys, pubsubDialect } = await import('../assembly/pubsub-dialect.ts')
  const known = mintingKey === undefined ? 'no key' : `the key ${mintingKey.kid} only`
  const detail = `path-prefix tokens are accepted; ${known} is known here, not the broker's register`
  print({ name: 'dialect', verdict: 'note', detail })
  return pubsubDialect(fixedKeys(mintingKey === undefined ? [] : [publicHalf(mintingKey)]), Date)
}

/** Asks the hub's own authenticator; the gate lets its paths through, because the hub guards itself. */
async function explainOfHub(
  question: Question,
  { topic: topics, origin }: ExplainOptions,
  write: (text: string) => void,
): Promise<number> {
  // Loaded only for a path of the hub: the other questions need none of it.
  const { explainHub } = await import('../hub/index.ts')
  const print = (step: TraceStep) => write(line(step))
  const hubQuestion = { ...question, topics, origin }
  const otherDialect = await pathTokens(print)
  const config = loadHubConfig()
  const parts = { config, log: logInto(print), ...(otherDialect && { otherDialect }) }
  const verdict = await explainHub(
    { ...parts, config: { ...config, enabled: config.enabled || otherDialect !== undefined } },
    hubQuestion,
    print,
  )
  write(`${verdict.text}\n`)
  return verdict.status === 200 ? 0 : EXIT_REFUSED
}

function collect(value: string, before: readonly string[]): readonly string[] {
  return [...before, value]
}

function questionOf(method: string, target: string, token: string | undefined): Question {
  if (!/^[A-Z-]+$/.test(method)) throw new UsageError('METHOD is a word in capitals such as GET')
  if (!target.startsWith('/') && !URL.canParse(target)) throw new UsageError('PATH begins with /')
  const question = { method, target }
  if (token === undefined) return question
  try {
    return { ...question, token: readArgument('--token', token) }
  } catch (cause) {
    throw new UsageError(cause instanceof Error ? cause.message : 'unreadable', { cause })
  }
}

async function run(method: string, target: string, options: ExplainOptions): Promise<number> {
  const write = (text: string) => void process.stdout.write(text)
  try {
    const question = questionOf(method, target, options.token)
    write(`${question.method} ${pathOf(target)}\n`)
    if (HUB_TARGET.test(pathOf(target))) return await explainOfHub(question, options, write)
    if (method === 'OPTIONS') {
      write('allowed: the broker answers OPTIONS with 204 before the gate\n')
      return 0
    }
    const decision = await explain(question, (step) => write(line(step)))
    write(`${outcome(decision)}\n`)
    return decision.outcome === 'allowed' ? 0 : EXIT_REFUSED
  } catch (error) {
    if (!(error instanceof UsageError || error instanceof ConfigError)) throw error
    process.stderr.write(`${error.message}\n`)
    return EXIT_USAGE
  }
}

/**
 * `hivegate explain`: what the gate, or on its paths the hub, would decide about a request under the current
 * environment, step by step.
 * Exit code 0 allowed, 1 refused, 2 bad usage (an environment that cannot be read included). Never prints the token.
 */
export function explainCommand(): Command {
  return new Command('explain')
    .description('Tell what the gate would decide about a request, step by step, and why')
    .argument('<method>', 'HTTP method')
    .argument('<path>', 'request path, such as /api/v1/push')
    .option('--token <token>', 'the token, @file, or @- for standard input')
    .option('--topic <topic>', 'hub only: a topic of the update, repeatable', collect, [])
    .option('--origin <url>', 'hub only: origin under which it is reached', 'https://localhost')
    .exitOverride((error: CommanderError) => process.exit(error.exitCode === 0 ? 0 : EXIT_USAGE))
    .action(async (method: string, target: string, options: ExplainOptions) => {
      process.exitCode = await run(method, target, options)
    })
}
