import { existsSync } from 'node:fs'
import { Command } from 'commander'
import { packageVersion } from '../assembly/version.ts'

const ENV_FILE = '.env'

/**
 * Every command by its name; each file of this folder makes one. Only the one that was asked for is loaded: one that
 * mints a token needs no broker, and starts in half the time without.
 */
const COMMANDS: ReadonlyMap<string, () => Promise<Command>> = new Map([
  ['serve', async () => (await import('./serve.ts')).serveCommand()],
  ['token', async () => (await import('./token.ts')).tokenCommand()],
  ['mercure-token', async () => (await import('./mercure-token.ts')).mercureTokenCommand()],
  ['pubsub-token', async () => (await import('./pubsub-token.ts')).pubsubTokenCommand()],
  ['keys', async () => (await import('./keys.ts')).keysCommand()],
  ['explain', async () => (await import('./explain.ts')).explainCommand()],
  ['migrate-store', async () => (await import('./migrate-store.ts')).migrateStoreCommand()],
])

/** The command that the first word names; all of them for help, and to tell what a wrong word may have meant. */
async function commandsFor(word: string | undefined): Promise<readonly Command[]> {
  const named = COMMANDS.get(word ?? '')
  if (named !== undefined) return [await named()]
  const commands: Command[] = []
  // One after another: modules that are asked for at once are not always loaded by the time they are needed.
  for (const make of COMMANDS.values()) commands.push(await make())
  return commands
}

/** Reads `.env` of the working folder, if there is one; false after saying that it cannot be read. */
function loadEnvFile(): boolean {
  try {
    if (existsSync(ENV_FILE)) process.loadEnvFile(ENV_FILE)
    return true
  } catch (error) {
    const why = error instanceof Error && 'code' in error ? String(error.code) : 'unreadable'
    process.stderr.write(`${ENV_FILE}: cannot be read (${why})\n`)
    return false
  }
}

/** Runs the command line. Variables that are set already win over those of `.env`. */
export async function main(argv: readonly string[]): Promise<void> {
  if (!loadEnvFile()) {
    process.exitCode = 1
    return
  }
  const program = new Command('hivegate')
    .description('A message broker with a JWT authentication gate')
    .version(packageVersion())
  for (const command of await commandsFor(argv[2])) program.addCommand(command)
  await program.parseAsync(argv)
}
