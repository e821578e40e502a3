import { Command } from 'commander'
import { BootError } from '../assembly/boot-error.ts'
import { migrateStore } from '../assembly/migrate-store.ts'
import { ConfigError, loadDatabaseConfig } from '../config/index.ts'
import { StoreError, StoreMoveError } from '../storage/index.ts'
import { progressBar } from './progress-bar.ts'

interface Options {
  readonly from: string
  readonly to?: string
}

/** What the operator can mend: one line, and no stack. */
const FAULTS = [BootError, ConfigError, StoreError, StoreMoveError] as const

async function run({ from, to }: Options): Promise<void> {
  const { url, pooler } = loadDatabaseConfig(to === undefined ? {} : { DATABASE_URL: to })
  if (url === undefined)
    throw new BootError('DATABASE_URL: is not set; name the database with --to')
  // Node's word that node:sqlite is experimental would stand in the middle of the bar.
  process.removeAllListeners('warning')
  const bar = progressBar(process.stderr)
  try {
    const report = await migrateStore({ from, to: url, pooler, onProgress: bar.show })
    bar.end()
    const before = report.movedBefore > 0 ? ` (${report.movedBefore} by an earlier run)` : ''
    process.stdout.write(
      `moved ${report.rows} rows${before}; numbers and checksums of every table agree\n` +
        `start the broker with DATABASE_URL set; "${from}" is unchanged, keep it until you trust the new store\n`,
    )
  } catch (error) {
    bar.end()
    throw error
  }
}

/** `hivegate migrate-store`: moves the data of an embedded store to PostgreSQL. Exit code 1 when it cannot. */
export function migrateStoreCommand(): Command {
  const command = new Command('migrate-store')
    .description('Copy an embedded store into an empty PostgreSQL database; goes on when run again')
    .requiredOption('--from <folder>', 'DATA_DIR of the broker, which must be stopped')
    .option(
      '--to <url>',
      'database; default: DATABASE_URL, which keeps its password off the command line',
    )
  return command.action(async (options: Options) => {
    try {
      await run(options)
    } catch (error) {
      if (!FAULTS.some((fault) => error instanceof fault)) throw error
      command.error(`error: ${error instanceof Error ? error.message : String(error)}`)
    }
  })
}
