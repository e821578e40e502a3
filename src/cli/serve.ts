import { Command } from 'commander'
import { RouteTableError } from '../access/index.ts'
import { BootError, type Broker, startBroker } from '../assembly/broker.ts'
import { type Config, ConfigError, type Environment, loadConfig } from '../config/index.ts'
import { createLog, type Logger } from '../http/index.ts'
import { StoreError } from '../storage/index.ts'
import { exitAfterDrain } from './signals.ts'

/** What keeps the broker from starting and is the operator's to mend: one line each, and no stack. */
const BOOT_FAULTS = [BootError, ConfigError, StoreError, RouteTableError] as const

function refuse(lines: readonly string[]): void {
  for (const line of lines) process.stderr.write(`${line}\n`)
  process.exitCode = 1
}

/** The configuration, or undefined after every wrong variable was named on stderr. */
function readConfig(switches: Environment): Config | undefined {
  try {
    return loadConfig(undefined, switches)
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    refuse(error.problems)
    return undefined
  }
}

async function start(config: Config, log: Logger): Promise<Broker | undefined> {
  try {
    return await startBroker(config, { log })
  } catch (error) {
    if (error instanceof ConfigError) {
      refuse(error.problems)
      return undefined
    }
    if (!BOOT_FAULTS.some((fault) => error instanceof fault)) throw error
    refuse([error instanceof Error ? error.message : String(error)])
    return undefined
  }
}

async function serve({ dev }: { readonly dev?: boolean }): Promise<void> {
  const config = readConfig(dev === true ? { MERCURE_DEV: 'true' } : {})
  if (config === undefined) return
  const log = createLog(config.server.logLevel)
  for (const warning of config.warnings) log.warn(warning)
  const broker = await start(config, log)
  if (broker === undefined) return
  const { host, tlsCertFile, drainTimeoutMs } = config.server
  exitAfterDrain(broker, log, drainTimeoutMs)
  // Said when signals are heard, so that whoever waits for it may send one at once.
  log.info({ host, tls: tlsCertFile !== '', port: broker.port }, 'listening')
}

/** `hivegate serve`: the broker until SIGTERM or SIGINT. Exit code 1 when it cannot start, with the reasons on stderr. */
export function serveCommand(): Command {
  return new Command('serve')
    .description('Run the broker; settings come from the environment and from .env')
    .option(
      '--dev',
      'development mode of the event hub, the same as MERCURE_DEV=true: full access for everyone',
    )
    .action(serve)
}
