import { existsSync } from 'node:fs'
import { Command } from 'commander'
import { packageVersion } from '../assembly/version.ts'
import { explainCommand } from './explain.ts'
import { keysCommand } from './keys.ts'
import { mercureTokenCommand } from './mercure-token.ts'
import { migrateStoreCommand } from './migrate-store.ts'
import { pubsubTokenCommand } from './pubsub-token.ts'
import { serveCommand } from './serve.ts'
import { tokenCommand } from './token.ts'

const ENV_FILE = '.env'

/** Every command; each file of this folder makes one. */
const COMMANDS: readonly (() => Command)[] = [
  serveCommand,
  tokenCommand,
  mercureTokenCommand,
  pubsubTokenCommand,
  keysCommand,
  explainCommand,
  migrateStoreCommand,
]

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
  for (const command of COMMANDS) program.addCommand(command())
  await program.parseAsync(argv)
}
