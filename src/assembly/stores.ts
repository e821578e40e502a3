import type { Config } from '../config/index.ts'
import type { Logger } from '../http/index.ts'
import type { HubStore } from '../hub/index.ts'
import type { IssuerStore } from '../issuer/index.ts'
import {
  createQueueEngine,
  type OpenedSpill,
  type Operations,
  openSpill,
  type QueueEngine,
  type QueueStore,
  type SetAside,
} from '../queue/index.ts'
import { StoreFailedError, StoreLockedError } from '../storage/index.ts'
import { BootError } from './boot-error.ts'
import { openEmbeddedStores } from './embedded.ts'
import { openPostgresStores } from './postgres.ts'

/** What every part of the broker keeps, on one open database. */
export interface Stores {
  /** Name of the kind in health and status. */
  readonly kind: 'sqlite' | 'postgres'
  readonly queue: QueueStore
  readonly issuer: IssuerStore
  /** Makes the hub's history; its owner closes it. */
  hub(historySize: number): HubStore
  /** How often the issuer's keys are read again, in ms; 0 where this process is the only writer. */
  readonly registryRefreshMs: number
  /** Closes the database, after everything that uses it. */
  close(): Promise<void>
}

/**
 * Opens the PostgreSQL database of `DATABASE_URL`, or without one the embedded store in `DATA_DIR`, with the tables
 * of every wing.
 * @throws StoreError when the folder is in use or holds a newer schema, BootError when the store cannot be used
 */
export function openStores(config: Config, log: Logger): Promise<Stores> {
  return config.database.url === undefined
    ? openEmbeddedStores(config)
    : openPostgresStores(config, log)
}

/** What the engine needs besides its store. */
export interface EngineParts {
  readonly log: Logger
  readonly clock: { now(): number }
  /** What the engine reports to. */
  readonly operations: Operations
}

/** What is wrong with the folder, in a few words; with the file's name where it is one file alone. */
function spillFault(error: unknown): string {
  if (error instanceof StoreLockedError) return 'another hivegate process has it'
  if (error instanceof StoreFailedError) return error.reason
  if (!(error instanceof Error && 'code' in error)) return 'unreadable'
  return 'path' in error ? `${error.code}: ${error.path}` : String(error.code)
}

/** Opens the folder for pushes during an outage. @throws BootError naming `OUTAGE_SPILL_DIR` */
async function openSpillOf(config: Config, log: Logger): Promise<OpenedSpill | undefined> {
  const { url, spillDir: folder, spillMaxBytes: maxBytes } = config.database
  if (url === undefined || folder === '') return undefined
  const { encryptionKey } = config.queue
  const onSetAside = (what: SetAside) =>
    log.error(what, 'a push that waited in the spill was set aside in its refused.jsonl')
  const onTorn = (path: string, bytes: number) =>
    log.warn(
      { path, bytes },
      'a push that a crash cut short, unanswered, was dropped from the spill',
    )
  try {
    return await openSpill({ folder, maxBytes, encryptionKey, onSetAside, onTorn })
  } catch (cause) {
    const why = `OUTAGE_SPILL_DIR: "${folder}" cannot be used (${spillFault(cause)})`
    throw new BootError(why, { cause })
  }
}

/** Makes the queue's engine on the open store. @throws BootError for a spill that cannot be used */
export async function openQueue(
  config: Config,
  store: QueueStore,
  { log, clock, operations }: EngineParts,
): Promise<QueueEngine> {
  return createQueueEngine({
    store,
    config: { ...config.queue, ...config.operations },
    clock,
    observer: operations.observer,
    onBatch: operations.onBatch,
    onDrainError: (err) => log.error({ err }, 'a buffered push could not be replayed'),
    spill: await openSpillOf(config, log),
  })
}
